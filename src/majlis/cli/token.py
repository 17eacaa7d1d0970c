"""`majlis token`: tokens and sign-in links, directly in the gateway's database, with the rights of its owner."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated

import typer

from majlis import clock
from majlis.cli.command import AsJson, Entity, Url, Where, on_database
from majlis.cli.terminal import local_time, note, print_json, print_line, print_list, print_result

if TYPE_CHECKING:
    from majlis.entities.scopes import Scope

app = typer.Typer(rich_markup_mode=None, help="Manage tokens and sign-in links.")

Anyone = Annotated[str | None, typer.Argument(metavar="NAME", help="Name or id of the person.  [default: the owner]")]
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MOST_YEARS = 100


@app.command()
@on_database
async def create(
    where: Where,
    name: Entity,
    label: Annotated[str | None, typer.Option(help="Label, for example the purpose of the token.")] = None,
    expires: Annotated[str | None, typer.Option(help="30d, 12h, 45m, or a time like 2027-01-31T12:00:00Z.")] = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="read, write, approve or admin; can be repeated.  [default: all]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it.

    It is not shown again. Only the token goes to stdout, so TOKEN=$(majlis token create Sara) works.
    """
    from majlis.cli.local import as_owner, find_entity
    from majlis.entities.tokens import create_token

    scopes = checked_scopes(scope)
    expires_at = moment_from_now(expires) if expires else None
    made, token = await as_owner(
        where.settings(),
        lambda tx, hasher, owner: create_token(tx, owner, hasher, find_entity(tx, name).id, label, expires_at, scopes),
    )
    if as_json:
        print_json({**made, "token": token})
        return
    expiry = f"expires {local_time(made['expiresAt'])}" if expires else "never expires"
    note(f"Created token {made['id']} for {name}; it {expiry} and is not shown again:")
    print_line(token)


@app.command("list")
@on_database
async def list_(where: Where, name: Entity, as_json: AsJson = False) -> None:
    """List the tokens of a person, agent or service."""
    from majlis.cli.local import as_owner, find_entity
    from majlis.entities.tokens import list_tokens

    found = await as_owner(where.settings(), lambda tx, hasher, owner: list_tokens(tx, owner, find_entity(tx, name).id))
    rows = [(t["id"], t["label"] or "", local_time(t["createdAt"]), local_time(t["expiresAt"])) for t in found]
    print_list(found, as_json, ("ID", "Label", "Created", "Expires"), rows, f"{name} has no tokens.")


@app.command()
@on_database
async def revoke(
    where: Where,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="ID of the token (tok_…), not the token itself.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a token."""
    from majlis.cli.local import as_owner
    from majlis.entities.live_access import end_access

    await as_owner(where.settings(), lambda tx, hasher, owner: end_access(tx, owner, token_id))
    print_result({"id": token_id, "revoked": True}, as_json, f"Revoked {token_id}.")


@app.command()
@on_database
async def sign_in(where: Where, name: Anyone = None, url: Url = None, as_json: AsJson = False) -> None:
    """Print a link that signs a browser in once, within an hour."""
    from majlis.cli.local import as_owner, find_entity
    from majlis.cli.remote import default_url
    from majlis.entities.sessions import create_sign_in_code

    settings = where.settings()
    base = url or os.environ.get("MAJLIS_URL") or settings.public_url or default_url(settings)
    code, expires_at = await as_owner(
        settings,
        lambda tx, hasher, owner: create_sign_in_code(
            tx, owner, hasher, find_entity(tx, name).id if name else owner.id
        ),
    )
    link, expiry = f"{base.rstrip('/')}/sign-in/{code}", clock.iso(expires_at)
    if not as_json:
        note(f"Sign-in link for {name or 'the owner'}, valid once until {local_time(expiry)}:")
    print_result({"url": link, "expiresAt": expiry}, as_json, link)


def checked_scopes(asked: list[str] | None) -> list[Scope] | None:
    from majlis.entities.scopes import ALL_SCOPES

    if not asked:
        return None
    if unknown := sorted(set(asked) - ALL_SCOPES):
        raise typer.BadParameter(f"{unknown[0]!r} is not a scope. Use read, write, approve or admin.")
    return sorted(ALL_SCOPES.intersection(asked))


def moment_from_now(text: str) -> clock.Millis:
    """A duration like 30d, 12h or 45m, or a full ISO 8601 time."""
    duration = re.fullmatch(r"([0-9]{1,9})([smhdw])", text.strip())
    now = clock.now()
    try:
        at = now + int(duration[1]) * _SECONDS[duration[2]] * 1000 if duration else clock.parse_iso(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a valid time. Use a duration like 30d, 12h or 45m, or a time like 2027-01-31T12:00:00Z."
        ) from None
    if not 0 < at - now < _MOST_YEARS * 365 * 86_400_000:
        raise typer.BadParameter(f"{text!r} is not within the next {_MOST_YEARS} years.")
    return at
