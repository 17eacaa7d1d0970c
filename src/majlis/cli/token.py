"""`majlis token`: tokens and sign-in links, made directly in the gateway's database, as its owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec, TypeVar

import typer

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir, Url, Where
from majlis.cli.printing import note, print_json, print_line, print_table, shown_time
from majlis.cli.running import run_async

if TYPE_CHECKING:
    from majlis.entities.caller import Caller
    from majlis.entities.tokens import Hasher
    from majlis.store.transactions import Tx

P = ParamSpec("P")
T = TypeVar("T")

app = typer.Typer(rich_markup_mode=None, help="Make, list and end tokens, and make sign-in links.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name or id of a person, agent or service.")]


@app.command()
def create(
    name: Name,
    label: Annotated[str | None, typer.Option(help="What it is for, to recognise it by.")] = None,
    expires: Annotated[str | None, typer.Option(help="30d, 12h, 45m, or a time like 2027-01-31T12:00:00Z.")] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """Make a token and print it, this once. Only it goes to stdout, so TOKEN=$(majlis token create Sara) works."""
    from majlis.cli.durations import moment_from_now
    from majlis.cli.owning import create_for

    expires_at = moment_from_now(expires) if expires else None
    made, token = _as_owner(Where(data_dir, database_url, config), create_for, name, label, expires_at)
    if as_json:
        print_json({**made, "token": token})
        return
    note(f"A token of {name}, {made['id']}, expires {shown_time(made['expiresAt'])}. It is shown only this once:")
    print_line(token)


@app.command("list")
def list_(
    name: Name,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """List somebody's tokens. The tokens themselves are not kept anywhere."""
    from majlis.cli.owning import list_of

    found = _as_owner(Where(data_dir, database_url, config), list_of, name)
    if as_json:
        print_json(found)
        return
    rows = [(t["id"], t["label"] or "", shown_time(t["createdAt"]), shown_time(t["expiresAt"])) for t in found]
    print_table(("Token", "Label", "Made", "Expires"), rows, f"{name} has no tokens.")


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the token (tok_…), not the token.")],
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """End a token at once."""
    from majlis.cli.owning import revoke as end

    _as_owner(Where(data_dir, database_url, config), end, token_id)
    if as_json:
        print_json({"id": token_id, "revoked": True})
    else:
        print_line(f"{token_id} has ended.")


@app.command()
def sign_in(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who is to sign in.")],
    url: Url = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """Print a link that signs a browser in once, within the hour."""
    import os

    from majlis.cli.remote import default_url
    from majlis.cli.owning import sign_in_code
    from majlis.clock import iso

    where = Where(data_dir, database_url, config)
    settings = where.settings()
    base = url or os.environ.get("MAJLIS_URL") or settings.public_url or default_url(settings)
    code, expires_at = _as_owner(where, sign_in_code, name)
    link = f"{base.rstrip('/')}/sign-in/{code}"
    if as_json:
        print_json({"url": link, "expiresAt": iso(expires_at)})
        return
    note(f"Signs {name} in once, until {shown_time(iso(expires_at))}:")
    print_line(link)


def _as_owner(
    where: Where, verb: Callable[Concatenate[Tx, Hasher, Caller, P], T], *args: P.args, **kwargs: P.kwargs
) -> T:
    from majlis.cli.owning import as_owner

    return run_async(as_owner(where.settings(), verb, *args, **kwargs))
