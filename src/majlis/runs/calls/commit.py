"""The transactions of a call. Its effect, its journal entry and the check of the fence are one.

A tool that acts on the database is committed whole. A tool that acts on the outside world is journalled as started
before it is called, unless people have to be asked first, and as done afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from majlis.clock import iso
from majlis.errors import Forbidden
from majlis.inbox.gather import release
from majlis.minds.consciousness.remember import Lived
from majlis.runs.calls.context import CallContext, Pause
from majlis.runs.calls.permission import ask_first, judge, needs_approval, permitted, place_of
from majlis.runs.calls.tool_port import InTransaction, Outside
from majlis.runs.calls.visible import show_done, show_started
from majlis.runs.end.settle import complete, skip
from majlis.runs.journal import Entry, finish_entry, update_fenced, write_entries
from majlis.runs.run import Run, announce, presence, run_event, spaces_of_run
from majlis.store.tables import agents
from majlis.store.transactions import Tx
from majlis.waits.collect import wait_event
from majlis.waits.condition import Condition
from majlis.waits.wait import Wait, pause_columns

# The policies of the space and the agent: not read yet, to be checked now, or already checked.
Policy = Literal["unread", "check", "checked"]
_SPEAKS_BY_TEXT = (
    "a policy requires an approval for each message, which works only for agents that speak with send_message "
    '(speak: "tool")'
)
_LOCK_AGENT = sa.select(agents.c.id).where(agents.c.id == sa.bindparam("agent")).with_for_update(key_share=True)


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
    policy: Policy = "unread",
    client_id: str | None = None,
) -> tuple[CallContext, dict[str, Any]]:
    context = context_of(run, entry, stream_id)
    context.client_id = client_id
    context.permitted = policy == "checked"
    asked = ask_first(tx, context, entry) if policy == "check" else None
    result = asked if asked is not None else tool.call(tx, context, input)
    entry.output, entry.ended_at, entry.secret = result, tx.now, None
    if context.skipped is not None:
        skip(tx, run, [*entries, entry], context.skipped, rest)
    else:
        write_effects(tx, run, context, [*entries, entry], rest)
    return context, result


def commit_speech(
    tx: Tx,
    run: Run,
    tool: InTransaction,
    input: Any,
    stream_id: str | None,
    entry: Entry,
    entries: list[Entry],
    lived: Lived | None,
    policy: Policy = "unread",
) -> tuple[CallContext, dict[str, Any]]:
    """Posts the final text and completes the run in one transaction, so that a crash repeats neither (E10). A message
    that was held back does not complete it."""
    if lived is not None:
        # Lock order: agent, then spaces.
        tx.execute(_LOCK_AGENT, {"agent": run.agent_id})
    context = context_of(run, entry, stream_id)
    if policy == "check":
        if needs_approval(tx, run.config, run.active_space_id, tool.name):
            raise Forbidden("needs_approval", _SPEAKS_BY_TEXT)
        context.permitted = True
    result = tool.call(tx, context, input)
    entry.output, entry.ended_at = result, tx.now
    if result["success"]:
        complete(tx, context.run, [*entries, entry], None, lived)
    else:
        write_effects(tx, run, context, [*entries, entry], ())
    return context, result


def start_call(
    tx: Tx, run: Run, tool: Outside, entry: Entry, entries: list[Entry], stream_id: str | None, rest: Sequence[str]
) -> Started:
    """Commits the call, or asks for permission if the call needs it."""
    place = place_of(tx, run.active_space_id)
    context = context_of(run, entry, stream_id)
    if judge(run.config, place, tool.name) == "ask":
        waiting = permitted(tx, context, entry, place)
        if waiting is not None:
            entry.state, entry.output, entry.ended_at = "done", waiting, tx.now
            if context.pause is None:
                entry.secret = None
            write_effects(tx, run, context, [*entries, entry], rest)
            return Started(place.name, context.run, waiting, context.pause is not None)
    if tool.visible:
        show_started(tx, context.run, entry, stream_id)
    write_entries(tx, run.id, [*entries, entry])
    update_fenced(tx, run.id, run.fence, **context.run.columns())
    return Started(place.name, context.run)


def check_before_repeat(tx: Tx, run: Run, tool_name: str) -> str | None:
    """Called before a call is repeated. Returns the name of its space. The policy is checked again for `deny` only: the
    call had its permission when it was started."""
    place = place_of(tx, run.active_space_id)
    judge(run.config, place, tool_name)
    update_fenced(tx, run.id, run.fence, **run.columns())
    return place.name


def finish_call(tx: Tx, run: Run, tool: Outside, entry: Entry) -> None:
    finish_entry(tx, run.id, entry)
    if tool.visible:
        show_done(tx, run, entry)
    update_fenced(tx, run.id, run.fence, **run.columns())


def write_journal(tx: Tx, run: Run, entries: list[Entry]) -> None:
    write_entries(tx, run.id, entries)
    update_fenced(tx, run.id, run.fence, **run.columns())


def context_of(run: Run, entry: Entry, stream_id: str | None) -> CallContext:
    return CallContext(run.copy(), entry.call_id or "", entry.n, stream_id)


def write_effects(tx: Tx, run: Run, context: CallContext, entries: list[Entry], rest: Sequence[str]) -> None:
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
    update_fenced(tx, run.id, run.fence, **after.columns(), **columns)


def _paused(tx: Tx, run: Run, pause: Pause) -> dict[str, Any]:
    wait = Wait(
        space_id=pause.space_id,
        message_id=pause.message_id,
        started_at=iso(tx.now),
        timeout_seconds=pause.seconds,
        **(_awaited(run, pause.condition) if pause.condition is not None else {}),
        tool_call_id=pause.call_id,
        tool_name=pause.tool_name,
        expired=(run.wait.expired_questions if run.wait is not None else ()) or None,
    )
    asked = {"toolCallId": pause.call_id, "toolName": pause.tool_name} if pause.call_id is not None else {}
    events = run_event(f"run.{pause.status}", run, wait=wait.to_json(), **asked) + presence("agent.inactive", run)
    if pause.status == "waiting_reply":
        events.append((wait.space_id, "wait.updated", wait_event(run.id, run.agent_id, wait)))
    announce(tx, events)
    release(tx, sorted(spaces_of_run(run)), run.cause_id, run.id)
    return pause_columns(wait, pause.status, tx.now, pause.among_agents)


def _awaited(run: Run, condition: Condition) -> dict[str, Any]:
    """The members who can answer, and how many have to. A wait for several answers has a number to collect them by."""
    named = condition.named
    return {
        "from_": tuple(row.id for row in named) if named is not None else None,
        "from_names": tuple(row.name for row in named) if named is not None else None,
        "need": condition.need,
        "n": run.waits if condition.needed > 1 else None,
    }
