"""A message that would be stale is held (E8): its run waits for its turn, reads what has arrived, and decides again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from majlis.runs.calls.commit import context_of, write_effects, write_journal
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.calls.ticket import is_taken, take_ticket
from majlis.runs.calls.tool_port import Toolbox
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry
from majlis.runs.run import Run
from majlis.store.transactions import Tx

# How soon an expired ticket is noticed, and one that another process gave back while the bus was down.
_LOOK_SECONDS = 1.0


async def hold(engine: Engine, run: Run, entry: Entry, entries: list[Entry]) -> tuple[CallContext, ToolResult]:
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
                with suppress(TimeoutError):
                    await asyncio.wait_for(happened.wait(), _LOOK_SECONDS)
                happened.clear()
    finally:
        unwatch()


def commit_hold(
    tx: Tx, run: Run, tools: Toolbox, space_id: str, entry: Entry, entries: list[Entry]
) -> tuple[CallContext, ToolResult] | None:
    """Journals what has arrived. None if it is not the run's turn; then only `entries` are written."""
    if not take_ticket(tx, run, space_id):
        if entries:
            write_journal(tx, run, entries)
        return None
    context = context_of(run, entry, None)
    result: dict[str, Any] = tools.held(tx, context, space_id)
    entry.output, entry.ended_at = result, tx.now
    write_effects(tx, run, context, [*entries, entry], ())
    return context, result
