"""`majlis secret`: stored secrets, directly in the gateway's database, as its owner."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from majlis.cli.command import AsJson, Where, on_database
from majlis.cli.terminal import ask_hidden, local_time, print_list, print_result

app = typer.Typer(rich_markup_mode=None, help="Store model keys and other secrets, encrypted, under a name.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret. Configs use it as secret:NAME.")]


@app.command("set")
@on_database
async def set_(
    where: Where,
    name: Name,
    host: Annotated[
        list[str] | None,
        typer.Option(help="Host it may be sent to, or command:PROGRAM. Default: the hosts of model providers."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Store a secret. The value comes from a prompt, or from stdin: majlis secret set NAME < key.txt"""
    from majlis.cli.local import as_owner
    from majlis.secret_store import Cipher, put_secret

    value = ask_hidden("Value") if sys.stdin.isatty() else sys.stdin.read().removesuffix("\n")
    made = await as_owner(
        where.settings(),
        lambda tx, hasher, owner: put_secret(tx, owner, Cipher(hasher.secret_key), name, value, host or []),
    )
    places = ", ".join(made["hosts"]) or "the hosts of model providers"
    print_result(made, as_json, f"Stored {name}. It may be sent to {places}. Use it in a config as secret:{name}.")


@app.command("list")
@on_database
async def list_(where: Where, as_json: AsJson = False) -> None:
    """List the names and hosts of stored secrets. Values are never shown."""
    from majlis.cli.local import as_owner
    from majlis.secret_store import list_secrets

    found = await as_owner(where.settings(), lambda tx, hasher, owner: list_secrets(tx, owner))
    rows = [
        (each["name"], ", ".join(each["hosts"]), local_time(each["createdAt"]), local_time(each["lastUsedAt"]))
        for each in found
    ]
    print_list(found, as_json, ("Name", "Hosts", "Created", "Last used"), rows, "No secrets are stored.")


@app.command()
@on_database
async def remove(where: Where, name: Name, as_json: AsJson = False) -> None:
    """Remove a secret. Agents that use it fail until it is stored again."""
    from majlis.cli.local import as_owner
    from majlis.secret_store import delete_secret

    await as_owner(where.settings(), lambda tx, hasher, owner: delete_secret(tx, owner, name))
    print_result({"name": name, "removed": True}, as_json, f"Removed {name}.")
