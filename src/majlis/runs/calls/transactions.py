"""The transactions of a call: its effect, its line in the journal, and the proof that the run is still ours are one.

A tool that acts on the database is committed whole. One that acts on the world is written down as begun before, unless
people have to be asked first, and as done after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from majlis.clock import iso
from majlis.runs.calls.context import Acting, Pause
from majlis.runs.calls.permission import judge, permitted, place_of
from majlis.runs.calls.tool_port import InTransaction, Outside
from majlis.runs.calls.visible import show_begun, show_done
from majlis.runs.claim.cycle import with_events
from majlis.runs.end.settle import skip
from majlis.runs.journal import Entry, finish_entry, hold, write_entries
from majlis.runs.run import Working
from majlis.runs.view.events import announce, presence, run_event
from majlis.store.transactions import Tx


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that is to be made, or what the model reads for now if people were asked first. `run` has what was shown
    of it."""

    space_name: str | None
    run: Working
    asked: tuple[Acting, dict[str, Any]] | None = None


def commit_call(
    tx: Tx,
    run: Working,
    tool: InTransaction,
    input: Any,
    stream_id: str | None,
    entry: Entry,
    entries: list[Entry],
    rest: Sequence[str],
) -> tuple[Acting, dict[str, Any]]:
    acting = run.acting(entry.call_id or "", stream_id)
    acting.step = entry.n
    result = tool.call(tx, acting, input)
    entry.output, entry.ended_at, entry.secret = result, tx.now, None
    if acting.skipped is not None:
        # One transaction: a cycle is skipped, or it goes on as if nobody had thought of it.
        skip(tx, run, [*entries, entry], acting.skipped, rest)
        return acting, result
    _leave_behind(tx, run, acting, [*entries, entry], rest)
    return acting, result


def _leave_behind(tx: Tx, run: Working, acting: Acting, entries: list[Entry], rest: Sequence[str]) -> None:
    """What a call has changed in its run, and whether the run waits now."""
    write_entries(tx, run.id, entries)
    columns = _columns_after(run, acting)
    if acting.pause is not None:
        columns |= _paused(tx, run, acting.pause)
        unmade = [f"{name} was not called: the run had paused before it." for name in rest]
        columns["notes"] = [*run.notes, *unmade] or None
    hold(tx, run.id, run.fence, **columns)


def _columns_after(run: Working, acting: Acting) -> dict[str, Any]:
    columns = run.columns()
    kept = {**columns["shown"], "shown": acting.shown, "wrote": acting.wrote}
    if acting.taken:
        columns["trigger"] = with_events(run.trigger, acting.taken)
    if acting.chain_depth != run.chain_depth:
        columns["chain_depth"] = acting.chain_depth
    return {**columns, "active_space_id": acting.active_space_id, "waits": acting.waits, "shown": kept}


def _paused(tx: Tx, run: Working, pause: Pause) -> dict[str, Any]:
    """Waiting is a row: no task, no connection, no memory is held (M4)."""
    wait: dict[str, Any] = {
        "spaceId": pause.space_id,
        "messageId": pause.message_id,
        "startedAt": iso(tx.now),
        "timeoutSeconds": pause.seconds,
    }
    asked = {"toolCallId": pause.call_id, "toolName": pause.tool_name} if pause.call_id is not None else {}
    wait |= asked
    if run.expired:
        wait["expired"] = run.expired
    events = run_event(f"run.{pause.status}", run, wait=wait, **asked) + presence("agent.inactive", run)
    announce(tx, events)
    return {
        "status": pause.status,
        "wait": wait,
        "wait_space_id": pause.space_id,
        "wait_message_id": pause.message_id,
        # A card has its own.
        "deadline": tx.now + pause.seconds * 1000 if pause.status == "waiting_reply" else None,
        "among_agents": pause.among_agents,
        "lease_owner": None,
    }


def begin_call(
    tx: Tx,
    run: Working,
    tool: Outside,
    entry: Entry,
    entries: list[Entry],
    stream_id: str | None,
    rest: Sequence[str],
) -> Begun:
    """Or, where that needs a person's permission, asked for."""
    place = place_of(tx, run.active_space_id)
    if judge(run.config, place, tool.name) == "ask":
        acting = run.acting(entry.call_id or "", stream_id)
        acting.step = entry.n
        waiting = permitted(tx, acting, entry)
        if waiting is not None:
            entry.state, entry.output, entry.ended_at = "done", waiting, tx.now
            if acting.pause is None:
                entry.secret = None
            _leave_behind(tx, run, acting, [*entries, entry], rest)
            return Begun(place.name, run, (acting, waiting))
    write_entries(tx, run.id, [*entries, entry])
    copy = run.copied()
    if tool.visible:
        show_begun(tx, copy, entry, stream_id)
    hold(tx, run.id, run.fence, **copy.columns())
    return Begun(place.name, copy)


def hold_again(tx: Tx, run: Working, tool_name: str) -> str | None:
    """The name of the space that the call is made in. What was denied meanwhile is denied; what needs permission had
    it when the call was begun."""
    place = place_of(tx, run.active_space_id)
    judge(run.config, place, tool_name)
    hold(tx, run.id, run.fence, **run.columns())
    return place.name


def finish_call(tx: Tx, run: Working, tool: Outside, entry: Entry) -> None:
    finish_entry(tx, run.id, entry)
    if tool.visible:
        show_done(tx, run, entry)
    hold(tx, run.id, run.fence, **run.columns())


def write_journal(tx: Tx, run: Working, entries: list[Entry]) -> None:
    write_entries(tx, run.id, entries)
    hold(tx, run.id, run.fence, **run.columns())
