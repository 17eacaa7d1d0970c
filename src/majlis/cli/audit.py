"""`majlis audit`: the audit log, directly in the gateway's database, as its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, Where, on_database
from majlis.cli.terminal import local_time, print_list, print_result

if TYPE_CHECKING:
    from majlis.settings import Settings


@on_database
async def audit(
    where: Where,
    actor: Annotated[str | None, typer.Option(help="Only what this person, agent or service did.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action: token.created, or token for all.")] = None,
    before: Annotated[str | None, typer.Option(metavar="ID", help="Only entries before this one.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of entries.")] = 50,
    verify: Annotated[bool, typer.Option("--verify", help="Check that no entry was changed or removed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List administrative acts, newest first.

    Also sign-ins, tokens, approvals, exports and uses of secrets.
    """
    from majlis.audit.query import list_audit
    from majlis.cli.local import as_owner, find_entity

    settings = where.settings()
    if verify:
        await _verify(settings, as_json)
        return
    page = await as_owner(
        settings,
        lambda tx, hasher, owner: list_audit(
            tx, owner, find_entity(tx, actor).id if actor else None, action, None, before, limit
        ),
    )
    rows = [
        (
            local_time(each["at"]),
            each["actor"]["name"],
            each["action"],
            each["target"] or "",
            ", ".join(f"{name}={value}" for name, value in each["details"].items()),
        )
        for each in page["entries"]
    ]
    columns = ("Time", "Actor", "Action", "Target", "Details")
    print_list(page["entries"], as_json, columns, rows, "The audit log has no such entries.")


async def _verify(settings: Settings, as_json: bool) -> None:
    from majlis.audit.seal import verify
    from majlis.cli.local import as_owner

    found = await as_owner(settings, lambda tx, hasher, owner: verify(tx, hasher.audit_key))
    told = (
        found.problem or f"The log is complete: {found.sealed} sealed entries, {found.unsealed} too new to be sealed."
    )
    result = {"sealed": found.sealed, "unsealed": found.unsealed, "head": found.head, "problem": found.problem}
    print_result(result, as_json, f"{told}\nThe last seal is {found.head or 'not made yet'}.")
    if found.problem:
        raise typer.Exit(1)
