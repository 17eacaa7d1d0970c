"""Loads a scene in one snapshot: six reads, eight at most (X11)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig
from majlis.minds.quote import references
from majlis.minds.timeline import statements
from majlis.minds.timeline.history_block import window_start
from majlis.minds.timeline.scene import (
    ActiveSpace,
    Goal,
    Look,
    Memory,
    Message,
    OtherRun,
    OwnSpace,
    Plan,
    Resume,
    Scene,
    Who,
)
from majlis.spaces.damaged_rows import Damaged, Unreadable, read_named, read_rows, reading, set_aside_named, sound
from majlis.store.transactions import Tx

_MAX_AWAITED = 3


def load_scene(tx: Tx, look: Look) -> Scene:
    """A space that the agent is no longer a member of is not active (A7)."""
    agent, config, trigger = look.agent, look.config, look.trigger
    listed = tx.all(statements.OWN_SPACES[tx.dialect], {"agent": agent.id})
    by_space = groupby(listed, key=lambda row: row.space_id)
    spaces = tuple(_own_space(agent, list(rows)) for _, rows in by_space)
    active = _active(tx, agent, look.active_space_id, listed)
    history = _history(tx, config, trigger, look.resume, active) if active else ()
    kept: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for row in tx.all(statements.KEPT, {"agent": agent.id}):
        kept[row.what].append(row)
    return Scene(
        now=tx.now,
        agent=agent,
        config=config,
        run_id=look.run_id,
        trigger=trigger,
        active=active,
        auto_set=active is not None and trigger.get("spaceId") == active.id,
        history=history,
        quoted=_quoted(tx, agent, history, trigger),
        spaces=spaces,
        more_spaces=listed[0].all_mine - len(spaces) if listed else 0,
        goals=tuple(Goal(row.id, row.text, row.number, bool(row.long_term)) for row in kept["goal"]),
        memories=tuple(Memory(row.id, row.text) for row in kept["memory"]),
        plans=tuple(Plan(row.id, row.name, row.text, row.cron, row.run_after, row.number) for row in kept["plan"]),
        other_runs=() if look.alone else _other_runs(tx, agent, look.run_id, spaces),
        actions=look.actions,
        resume=look.resume,
    )


def read_active_space(tx: Tx, agent_id: str, space_id: str | None) -> ActiveSpace | None:
    """None if the agent is not a member (A7)."""
    if space_id is None:
        return None
    row = tx.one(statements.ACTIVE_SPACE, {"space": space_id, "agent": agent_id})
    return _as_active(space_id, row) if row else None


def read_window(tx: Tx, space_id: str, start: int, end: int) -> tuple[list[Message], tuple[Damaged, ...]]:
    """The messages with these numbers, without damaged ones (R9)."""
    window = {"space": space_id, "start": start, "end": end}
    rows = read_rows(
        tx, space_id, lambda: tx.all(statements.WINDOW, window), statements.NUMBERS, window, statements.BY_NUMBER
    )
    senders: dict[str, Who] = {}
    found = [message_of(row, senders) for row in rows if not isinstance(row, Damaged)]
    return found, tuple(row for row in rows if isinstance(row, Damaged))


def read_one(tx: Tx, space_id: str, message_id: str) -> Message | None:
    """None if it is missing or damaged."""
    try:
        with reading():
            row = sound(tx.one(statements.ONE_OF_SPACE, {"space": space_id, "id": message_id}))
    except Unreadable as error:
        set_aside_named(tx, message_id, error)
        return None
    return message_of(row, {}) if row is not None else None


def message_of(row: sa.Row[Any], senders: dict[str, Who]) -> Message:
    """`senders` is filled: a conversation has many messages and few senders."""
    message_id, space_id, seq, sender_id, sender_name, sender_type, *rest = tuple(row)
    sender = senders.get(sender_id)
    if sender is None:
        sender = senders[sender_id] = Who(sender_id, sender_name, sender_type)
    return Message(message_id, space_id, seq, sender, *rest)


def read_quoted(tx: Tx, agent_id: str, ids: Collection[str]) -> dict[str, Message]:
    """The messages with these ids that the agent may read, without damaged ones (R9)."""
    senders: dict[str, Who] = {}
    rows = read_named(tx, statements.READABLE, sorted(ids), agent=agent_id) if ids else ()
    return {row.id: message_of(row, senders) for row in rows}


def _active(tx: Tx, agent: Who, space_id: str | None, listed: Sequence[sa.Row[Any]]) -> ActiveSpace | None:
    """Nearly always one of the listed spaces."""
    row = next((row for row in listed if row.space_id == space_id), None)
    return _as_active(row.space_id, row) if row is not None else read_active_space(tx, agent.id, space_id)


def _as_active(space_id: str, row: sa.Row[Any]) -> ActiveSpace:
    return ActiveSpace(space_id, row.name, row.head_seq, row.processed_seq or 0)


def _history(
    tx: Tx, config: AgentConfig, trigger: Mapping[str, Any], resume: Resume | None, active: ActiveSpace
) -> tuple[Message, ...]:
    """The window, preceded by the trigger and the answer that ended a wait if they are older."""
    history, _ = read_window(tx, active.id, window_start(config, active.total), active.total)
    for message_id in (resume.message_id if resume else None, trigger.get("messageId")):
        if message_id is not None and all(message.id != message_id for message in history):
            earlier = read_one(tx, active.id, message_id)
            history[:0] = [earlier] if earlier else []
    return tuple(history)


def _quoted(tx: Tx, agent: Who, history: Iterable[Message], trigger: Mapping[str, Any]) -> dict[str, Message]:
    ids = set(references(trigger.get("text", "")))
    for message in history:
        ids.update(references(message.text))
        if message.origin and message.sender.id == agent.id:
            ids.add(str(message.origin.get("sourceEvent")))
    return read_quoted(tx, agent.id, ids)


def _own_space(agent: Who, rows: list[sa.Row[Any]]) -> OwnSpace:
    """The rows of a large space may include the agent or one more member instead; the agent is counted, not listed."""
    others = [Who(row.member_id, row.member_name, row.member_type) for row in rows if row.member_id != agent.id]
    listed = tuple(others[: statements.MAX_MEMBERS])
    first = rows[0]
    return OwnSpace(first.space_id, first.name, first.role, listed, first.how_many - 1 - len(listed))


def _other_runs(tx: Tx, agent: Who, run_id: str, spaces: Iterable[OwnSpace]) -> tuple[OtherRun, ...]:
    rows = tx.all(statements.OTHER_RUNS, {"agent": agent.id, "run": run_id})
    by_id = {space.id: space for space in spaces}
    return tuple(_other_run(row, by_id.get(row.wait_space_id)) for row in rows)


def _other_run(row: sa.Row[Any], space: OwnSpace | None) -> OtherRun:
    if space is None:
        return OtherRun(row.id, row.status, row.trigger, None)
    awaited = _awaited(row.trigger, space) if row.status == "waiting_reply" else ()
    return OtherRun(row.id, row.status, row.trigger, space.name, awaited)


def _awaited(trigger: Mapping[str, Any], space: OwnSpace) -> tuple[str, ...]:
    """Any member may answer. The sender of the trigger comes first, because it is the likeliest to do so."""
    likeliest_first = sorted(space.members, key=lambda member: member.id != trigger.get("senderId"))
    names = [member.name for member in likeliest_first]
    more = len(names[_MAX_AWAITED:]) + space.more_members
    others = (f"and {more} other{'s' if more > 1 else ''}",) if more else ()
    return (*names[:_MAX_AWAITED], *others)
