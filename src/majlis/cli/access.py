"""`majlis access`: live tokens, sessions and sign-in links, directly in the gateway's database, as its owner."""

from __future__ import annotations

from typing import Annotated

import typer

from majlis.cli.command import AsJson, Entity, Where, on_database
from majlis.cli.terminal import local_time, print_list, print_result

app = typer.Typer(rich_markup_mode=None, help="List and end tokens, browser sessions and sign-in links.")


@app.command("list")
@on_database
async def list_(where: Where, name: Entity, as_json: AsJson = False) -> None:
    """List the live tokens, sessions and sign-in links of a person, agent or service."""
    from majlis.cli.local import as_owner, find_entity
    from majlis.entities.live_access import list_access

    found = await as_owner(where.settings(), lambda tx, hasher, owner: list_access(tx, owner, find_entity(tx, name).id))
    rows = [
        (each["id"], each["kind"], each["label"] or "", local_time(each["createdAt"]), local_time(each["expiresAt"]))
        for each in found
    ]
    columns = ("ID", "Kind", "Label", "Created", "Expires")
    print_list(found, as_json, columns, rows, f"{name} has no tokens, sessions or sign-in links.")


@app.command()
@on_database
async def end(
    where: Where,
    access_id: Annotated[str, typer.Argument(metavar="ID", help="ID from `majlis access list` (tok_…).")],
    as_json: AsJson = False,
) -> None:
    """End a token, session or link, and everything that was opened with it."""
    from majlis.cli.local import as_owner
    from majlis.entities.live_access import end_access

    await as_owner(where.settings(), lambda tx, hasher, owner: end_access(tx, owner, access_id))
    print_result({"id": access_id, "ended": True}, as_json, f"Ended {access_id}.")


@app.command()
@on_database
async def end_all(where: Where, name: Entity, as_json: AsJson = False) -> None:
    """End all tokens, sessions and links of a person, agent or service."""
    from majlis.cli.local import as_owner, find_entity
    from majlis.entities.live_access import end_all_access

    settings = where.settings()
    await as_owner(settings, lambda tx, hasher, owner: end_all_access(tx, owner, find_entity(tx, name).id))
    print_result({"name": name, "ended": True}, as_json, f"Ended all tokens, sessions and sign-in links of {name}.")
