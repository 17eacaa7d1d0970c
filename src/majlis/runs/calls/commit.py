"""The transactions of a call. Its effect, its journal entry and the check of the fence are one.

A tool that acts on the database is committed whole. A tool that acts on the outside world is journalled as started
before it is called, unless people have to be asked first, and as done afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from majlis.clock import iso
from majlis.runs.calls.context import CallContext, Pause
from majlis.runs.calls.permission import judge, permitted, place_of
from majlis.runs.calls.tool_port import InTransaction, Outside
from majlis.runs.calls.visible import show_done, show_started
from majlis.runs.end.settle import skip
from majlis.runs.journal import Entry, finish_entry, hold, write_entries
from majlis.runs.run import Run, announce, presence, run_event
from majlis.store.transactions import Tx
from majlis.waits.wait import Wait, pause_columns


@dataclass(frozen=True, slots=True)
class Started:
    """A call to make now; or, if people were asked first, what the model reads meanwhile. `run` is the run after it."""

    space_name: str | None
    run: Run
    asked: dict[str, Any] | None = None
    paused: bool = False


def commit_call(
    tx: Tx,
    run: Run,
    tool: InTransaction,
    input: Any,
    stream_id: str | None,
    entry: Entry,
    entries: list[Entry],
    rest: Sequence[str],
) -> tuple[CallContext, dict[str, Any]]:
    context = _context(run, entry, stream_id)
    result = tool.call(tx, context, input)
    entry.output, entry.ended_at, entry.secret = result, tx.now, None
    if context.skipped is not None:
        skip(tx, run, [*entries, entry], context.skipped, rest)
    else:
        _write_effects(tx, run, context, [*entries, entry], rest)
    return context, result


def start_call(
    tx: Tx, run: Run, tool: Outside, entry: Entry, entries: list[Entry], stream_id: str | None, rest: Sequence[str]
) -> Started:
    """Or asks for permission, where the call needs it."""
    place = place_of(tx, run.active_space_id)
    context = _context(run, entry, stream_id)
    if judge(run.config, place, tool.name) == "ask":
        waiting = permitted(tx, context, entry)
        if waiting is not None:
            entry.state, entry.output, entry.ended_at = "done", waiting, tx.now
            if context.pause is None:
                entry.secret = None
            _write_effects(tx, run, context, [*entries, entry], rest)
            return Started(place.name, context.run, waiting, context.pause is not None)
    write_entries(tx, run.id, [*entries, entry])
    if tool.visible:
        show_started(tx, context.run, entry, stream_id)
    hold(tx, run.id, run.fence, **context.run.columns())
    return Started(place.name, context.run)


def hold_again(tx: Tx, run: Run, tool_name: str) -> str | None:
    """Before a call is repeated. Returns the name of its space. The policy is checked again for `deny` only: the call
    had its permission when it was started."""
    place = place_of(tx, run.active_space_id)
    judge(run.config, place, tool_name)
    hold(tx, run.id, run.fence, **run.columns())
    return place.name


def finish_call(tx: Tx, run: Run, tool: Outside, entry: Entry) -> None:
    finish_entry(tx, run.id, entry)
    if tool.visible:
        show_done(tx, run, entry)
    hold(tx, run.id, run.fence, **run.columns())


def write_journal(tx: Tx, run: Run, entries: list[Entry]) -> None:
    write_entries(tx, run.id, entries)
    hold(tx, run.id, run.fence, **run.columns())


def _context(run: Run, entry: Entry, stream_id: str | None) -> CallContext:
    return CallContext(run.copy(), entry.call_id or "", entry.n, stream_id)


def _write_effects(tx: Tx, run: Run, context: CallContext, entries: list[Entry], rest: Sequence[str]) -> None:
    """Writes what the call has changed in its run, and the pause if there is one."""
    after = context.run
    write_entries(tx, run.id, entries)
    if context.taken:
        after.take(context.taken)
    columns: dict[str, Any] = {}
    if context.pause is not None:
        after.notes += [f"{name} was not called: the run paused before it." for name in rest]
        columns = _paused(tx, after, context.pause)
    if context.taken:
        columns["trigger"] = after.trigger
    if after.chain_depth != run.chain_depth:
        columns["chain_depth"] = after.chain_depth
    hold(tx, run.id, run.fence, **after.columns(), **columns)


def _paused(tx: Tx, run: Run, pause: Pause) -> dict[str, Any]:
    wait = Wait(
        space_id=pause.space_id,
        message_id=pause.message_id,
        started_at=iso(tx.now),
        timeout_seconds=pause.seconds,
        tool_call_id=pause.call_id,
        tool_name=pause.tool_name,
        expired=(run.wait.expired_questions if run.wait is not None else ()) or None,
    )
    asked = {"toolCallId": pause.call_id, "toolName": pause.tool_name} if pause.call_id is not None else {}
    events = run_event(f"run.{pause.status}", run, wait=wait.to_json(), **asked) + presence("agent.inactive", run)
    announce(tx, events)
    return pause_columns(wait, pause.status, tx.now, pause.among_agents)
