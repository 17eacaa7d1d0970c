"""A message that would be stale is held (E8): its run waits for its turn, reads what has arrived, and decides again.

The run with the ticket decides, the other held runs of the cause in that space wait. If they decided together, most of
them would cross each other again. A ticket is free when it has expired, and when its run has posted, has ended, waits,
or has left the space. So a dead worker delays the other runs by only a few seconds.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.runs.calls.commit import context_of, write_effects, write_journal
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.calls.tool_port import Toolbox
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry
from majlis.runs.run import Run
from majlis.store.hot import hot
from majlis.store.tables import runs, tickets
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx

# How often to look for a ticket that has expired, or that another process gave back while the bus was down.
_LOOK_SECONDS = 1.0
TICKET_MILLIS = 20_000
# For tickets of runs that did not give theirs back.
_KEPT_MILLIS = 3_600_000

_PLACE = tickets.c.space_id == sa.bindparam("space"), tickets.c.cause_id == sa.bindparam("cause")
# As text: in ON CONFLICT, SQLAlchemy would read the table again, with the rows of the statement's start.
_at_work = sa.exists().where(
    runs.c.id == sa.literal_column("tickets.run_id", sa.String),
    runs.c.status == word("running"),
    runs.c.active_space_id == sa.literal_column("tickets.space_id", sa.String),
)
_is_free = sa.or_(
    tickets.c.run_id == sa.bindparam("run"), tickets.c.expires_at <= sa.bindparam("now", type_=sa.BigInteger), ~_at_work
)
_TAKEN = hot(sa.select(tickets.c.run_id).where(*_PLACE, ~_is_free))
_GIVE_BACK = hot(tickets.delete().where(tickets.c.run_id == sa.bindparam("run")))
_FORGET = hot(
    tickets.delete().where(
        tickets.c.space_id == sa.bindparam("space"),
        tickets.c.expires_at < sa.bindparam("long_ago", type_=sa.BigInteger),
    )
)


def _take(insert: Any) -> Any:
    made = insert(tickets)
    return hot(
        made.on_conflict_do_update(
            index_elements=["space_id", "cause_id"],
            set_={"run_id": made.excluded.run_id, "expires_at": made.excluded.expires_at},
            where=_is_free,
        )
    )


_TAKE: dict[Dialect, Any] = {"sqlite": _take(sqlite.insert), "postgresql": _take(postgresql.insert)}


async def hold_message(engine: Engine, run: Run, entry: Entry, entries: list[Entry]) -> tuple[CallContext, ToolResult]:
    """Returns when it is the run's turn, with the result for the model."""
    space_id = run.active_space_id
    assert space_id is not None
    happened = asyncio.Event()

    def become(held: tuple[CallContext, ToolResult] | None) -> None:
        entries.clear()
        if held is not None:
            run.become(held[0].run)

    # Whatever gives a ticket back is an event in the space: a message, or the end of a run.
    unwatch = engine.channel.watch(space_id, lambda _: happened.set())
    try:
        while True:
            held = await engine.write_then(become, commit_hold, run, engine.toolbox, space_id, entry, entries)
            if held is not None:
                return held
            while await engine.db.read(is_taken, run, space_id):
                # Not `wait_for`, which loses a cancellation that comes with the result.
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await happened.wait()
                happened.clear()
    finally:
        unwatch()


def commit_hold(
    tx: Tx, run: Run, tools: Toolbox, space_id: str, entry: Entry, entries: list[Entry]
) -> tuple[CallContext, ToolResult] | None:
    """Journals what has arrived. Returns None if it is not the run's turn: then only `entries` are written."""
    if not take_ticket(tx, run, space_id):
        if entries:
            write_journal(tx, run, entries)
        return None
    context = context_of(run, entry, None)
    result: dict[str, Any] = tools.held(tx, context, space_id)
    entry.output, entry.ended_at = result, tx.now
    write_effects(tx, run, context, [*entries, entry], ())
    return context, result


def take_ticket(tx: Tx, run: Run, space_id: str) -> bool:
    """False if another run has it."""
    tx.later(_FORGET, {"space": space_id, "long_ago": tx.now - _KEPT_MILLIS})
    row = {"space_id": space_id, "cause_id": _line_of(run), "run_id": run.id, "expires_at": tx.now + TICKET_MILLIS}
    return tx.execute(_TAKE[tx.dialect], {**row, "run": run.id, "now": tx.now}).rowcount == 1


def is_taken(tx: Tx, run: Run, space_id: str) -> bool:
    given = {"space": space_id, "cause": _line_of(run), "run": run.id, "now": tx.now}
    return tx.one(_TAKEN, given) is not None


def give_back(tx: Tx, run: Run) -> None:
    tx.later(_GIVE_BACK, {"run": run.id})


def _line_of(run: Run) -> str:
    """A run without a cause waits for no other."""
    return run.cause_id or run.id
