"""Loads a scene in one snapshot: six reads, eight at most (X11)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, TypeVar

import sqlalchemy as sa

from majlis.minds.quote import references
from majlis.minds.timeline import statements
from majlis.minds.timeline.edits import as_shown, placed
from majlis.minds.timeline.history_block import window_start
from majlis.minds.timeline.scene import (
    ActiveSpace,
    Asked,
    Edit,
    Goal,
    Look,
    Memory,
    Message,
    OtherRun,
    OwnSpace,
    Pin,
    Plan,
    Resume,
    Scene,
    Summary,
    Who,
)
from majlis.spaces.damaged_rows import Damaged, Unreadable, read_named, read_rows, reading, set_aside_named, sound
from majlis.spaces.summaries import BLOCK
from majlis.store.transactions import Tx

_MAX_AWAITED = 3
T = TypeVar("T")


class Shared:
    """What scenes of one transaction have in common: each read is asked for once, and looked at once."""

    def __init__(self) -> None:
        self._asked: dict[tuple[Any, ...], sa.CursorResult[Any]] = {}
        self._rows: dict[tuple[Any, ...], Sequence[sa.Row[Any]]] = {}
        self._windows: dict[tuple[Any, ...], list[Message]] = {}

    def ask(self, tx: Tx, statement: Any, given: dict[str, Any]) -> None:
        key = id(statement), *given.values()
        if key not in self._asked:
            self._asked[key] = tx.ask(statement, given)

    def rows(self, statement: Any, given: dict[str, Any]) -> Sequence[sa.Row[Any]]:
        """Returns the rows of a read that was asked for."""
        key = id(statement), *given.values()
        if key not in self._rows:
            self._rows[key] = self._asked[key].all()
        return self._rows[key]

    def window(self, tx: Tx, given: dict[str, Any]) -> list[Message]:
        """Its messages, whose read was asked for before."""
        key = tuple(given.values())
        if key not in self._windows:
            self._windows[key] = _sound_rows(tx, lambda: self.rows(statements.WINDOW, given), given)[0]
        return self._windows[key]


def load_scene(tx: Tx, look: Look) -> Scene:
    return at_once(load_in_steps(tx, look, Shared()))


def at_once(steps: Generator[None, None, T]) -> T:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: T = done.value
            return found


def load_in_steps(tx: Tx, look: Look, shared: Shared) -> Generator[None, None, Scene]:
    """Pauses where it has asked for something and needs the rows: if several scenes are loaded in step, their reads
    share round trips. Those of one agent and person share its spaces and what it keeps, and those of one space its
    messages. A space that the agent is no longer a member of is not active (A7)."""
    agent, config, trigger = look.agent, look.config, look.trigger
    own = _limited(look.person, statements.OWN_SPACES[tx.dialect], statements.SHARED_SPACES[tx.dialect], agent=agent.id)
    # Nothing below depends on these: on PostgreSQL they arrive in one round trip.
    keeps = _limited(look.person, statements.KEPT, statements.SHARED_KEPT, agent=agent.id)
    shared.ask(tx, *own)
    shared.ask(tx, *keeps)
    others = None if look.alone else _ask_for_other_runs(tx, look)
    yield
    listed = shared.rows(*own)
    by_space = groupby(listed, key=lambda row: row.space_id)
    spaces = tuple(_own_space(agent, list(rows)) for _, rows in by_space)
    active = _active(tx, agent, look.active_space_id, listed, look.person)
    history: tuple[Message, ...] = ()
    if active is not None:
        given = _window(active.id, window_start(config, active.total), active.total)
        shared.ask(tx, statements.WINDOW, given)
        yield
        history = _with_earlier(tx, agent, trigger, look.resume, active, shared.window(tx, given))
    asked = _read_asked(tx, look, listed, active)
    history, edits, asked = _as_edited(tx, agent.id, history, asked)
    kept: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for row in shared.rows(*keeps):
        kept[row.what].append(row)
    return Scene(
        now=tx.now,
        agent=agent,
        config=config,
        run_id=look.run_id,
        trigger=trigger,
        active=active,
        limited=look.person is not None,
        auto_set=active is not None and trigger.get("spaceId") == active.id,
        history=history,
        edits=edits,
        asked=asked,
        quoted=_quoted(tx, look, (*history, *(asked.history if asked else ()))),
        spaces=spaces,
        more_spaces=listed[0].all_mine - len(spaces) if listed else 0,
        goals=tuple(Goal(row.id, row.text, row.number, bool(row.long_term)) for row in kept["goal"]),
        memories=tuple(Memory(row.id, row.text, row.source) for row in kept["memory"]),
        plans=tuple(Plan(row.id, row.name, row.text, row.cron, row.run_after, row.number) for row in kept["plan"]),
        other_runs=_other_runs(others.all(), spaces) if others is not None else (),
        actions=look.actions,
        resume=look.resume,
    )


def with_edits(
    tx: Tx, agent_id: str, history: Sequence[Message]
) -> tuple[tuple[Message, ...], Mapping[int, Sequence[Edit]]]:
    """Reads earlier versions only if a message was edited."""
    if not any(message.edited_at is not None for message in history):
        return tuple(history), {}
    shown, edits = as_shown(tx, agent_id, history)
    return tuple(shown), placed(edits, shown)


def _as_edited(
    tx: Tx, agent_id: str, history: tuple[Message, ...], asked: Asked | None
) -> tuple[tuple[Message, ...], Mapping[int, Sequence[Edit]], Asked | None]:
    """The messages at both places, with one read."""
    if asked is None:
        return *with_edits(tx, agent_id, history), None
    both = (*history, *asked.history)
    if not any(message.edited_at is not None for message in both):
        return history, {}, asked
    shown, edits = as_shown(tx, agent_id, both)
    here, there = tuple(shown[: len(history)]), tuple(shown[len(history) :])
    edited_there = [edit for edit in edits if edit.message.space_id == asked.space.id]
    edited_here = [edit for edit in edits if edit.message.space_id != asked.space.id]
    return here, placed(edited_here, here), Asked(asked.space, there, placed(edited_there, there))


def read_active_space(tx: Tx, agent_id: str, space_id: str | None, person: str | None = None) -> ActiveSpace | None:
    """None if the agent is not a member (A7), or the person on whose behalf it acts (G3)."""
    if space_id is None:
        return None
    # An unknown person stays in the space of the trigger, and is not looked up.
    ways = statements.ACTIVE_SPACE, statements.SHARED_ACTIVE_SPACE
    row = tx.one(*_limited(person or None, *ways, agent=agent_id, space=space_id))
    return _as_active(tx, space_id, row) if row else None


def read_window(tx: Tx, space_id: str, start: int, end: int) -> tuple[list[Message], tuple[Damaged, ...]]:
    """The messages with these numbers, without damaged ones (R9)."""
    given = _window(space_id, start, end)
    return _sound_rows(tx, lambda: tx.all(statements.WINDOW, given), given)


def _window(space_id: str, start: int, end: int) -> dict[str, Any]:
    return {"space": space_id, "start": start, "end": end}


def _sound_rows(
    tx: Tx, read: Callable[[], Sequence[Any]], given: Mapping[str, Any], numbers: sa.Select[Any] = statements.NUMBERS
) -> tuple[list[Message], tuple[Damaged, ...]]:
    rows = read_rows(tx, given["space"], read, numbers, given, statements.BY_NUMBER)
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


def read_quoted(tx: Tx, agent_id: str, ids: Collection[str], person: str | None = None) -> dict[str, Message]:
    """The messages with these ids that the agent may read, and its person (G3), without damaged ones (R9)."""
    senders: dict[str, Who] = {}
    statement, given = _limited(person, statements.READABLE, statements.SHARED_READABLE, agent=agent_id)
    rows = read_named(tx, statement, sorted(ids), **given) if ids else ()
    found = [message_of(row, senders) for row in rows]
    if any(message.edited_at is not None for message in found):
        found, _ = as_shown(tx, agent_id, found)
    return {message.id: message for message in found}


def _limited(person: str | None, every: Any, shared: Any, **given: str) -> tuple[Any, dict[str, str]]:
    """The statement and its parameters: all that the agent may see, or what it shares with the person (G3)."""
    return (every, given) if person is None else (shared, {**given, "person": person})


def _active(
    tx: Tx, agent: Who, space_id: str | None, listed: Sequence[sa.Row[Any]], person: str | None
) -> ActiveSpace | None:
    """Nearly always one of the listed spaces."""
    row = next((row for row in listed if row.space_id == space_id), None)
    return _as_active(tx, row.space_id, row) if row is not None else read_active_space(tx, agent.id, space_id, person)


def _as_active(tx: Tx, space_id: str, row: sa.Row[Any]) -> ActiveSpace:
    return ActiveSpace(
        space_id,
        row.name,
        row.head_seq,
        row.processed_seq or 0,
        row.triggers,
        tx.hooks.depth_limit(row.max_chain_depth),
        row.phase,
        governed=bool(row.governed),
        summarised=row.summaries,
        **read_about(tx, space_id, row),
    )


def read_about(tx: Tx, space_id: str, row: sa.Row[Any]) -> dict[str, Any]:
    """Fields of `ActiveSpace`: the handover (F8), pins and summaries (F3). A space without them costs no read."""
    if not (row.phase or row.pins or row.summarised_seq):
        return {}
    about: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    # A damaged pin (R9) leaves them all out.
    with suppress(Unreadable), reading():
        for each in tx.all(statements.ABOUT_SPACE, {"space": space_id}):
            about[each.what].append(each)
    handed = about["phase"][0] if about["phase"] and row.phase else None
    pins = tuple(_pin(each) for each in sorted(about["pin"], key=lambda each: each.number))
    return {
        "phase_by": handed.name if handed else None,
        "summary": handed.text if handed else None,
        "pins": pins,
        "more_pins": max(0, row.pins - len(pins)),
        "summaries": tuple(_summary(each) for each in sorted(about["summary"], key=lambda each: each.number))
        if row.summaries
        else (),
    }


def _pin(row: sa.Row[Any]) -> Pin:
    return Pin(row.id, Who(row.sender_id, row.name, row.type), row.text, row.at)


def _summary(row: sa.Row[Any]) -> Summary:
    first = row.number * BLOCK + 1
    return Summary(first, first + BLOCK - 1, row.text, row.at)


def _with_earlier(
    tx: Tx,
    agent: Who,
    trigger: Mapping[str, Any],
    resume: Resume | None,
    active: ActiveSpace,
    history: Sequence[Message],
) -> tuple[Message, ...]:
    """The window, preceded by the trigger and the answers to a wait if they are older."""
    asked_here = trigger.get("spaceId") == active.id
    wanted = [
        trigger.get("messageId") if asked_here else None,
        *((resume.message_id, *(resume.answers or ())) if resume else ()),
    ]
    missing = {each for each in wanted if each is not None} - {message.id for message in history}
    earlier = read_quoted(tx, agent.id, missing).values() if missing else ()
    return (*sorted((each for each in earlier if each.space_id == active.id), key=lambda each: each.seq), *history)


def _read_asked(tx: Tx, look: Look, listed: Sequence[sa.Row[Any]], active: ActiveSpace | None) -> Asked | None:
    """F4: None if the run is active where it was asked, or the agent or its person may no longer read that space."""
    trigger = look.trigger
    if trigger["type"] != "space_message" or "messageId" not in trigger:
        return None
    if active is not None and active.id == trigger["spaceId"]:
        return None
    space = _active(tx, look.agent, trigger["spaceId"], listed, look.person)
    if space is None:
        return None
    given = {"space": space.id, "message": trigger["messageId"]}
    found, _ = _sound_rows(tx, lambda: tx.all(statements.AROUND, given), given, statements.NUMBERS_AROUND)
    return Asked(space, tuple(found))


def _quoted(tx: Tx, look: Look, history: Iterable[Message]) -> dict[str, Message]:
    ids = set(references(look.trigger.get("text", "")))
    for message in history:
        ids.update(references(message.text))
        if message.origin and "sourceEvent" in message.origin:
            ids.add(str(message.origin["sourceEvent"]))
    return read_quoted(tx, look.agent.id, ids, look.person)


def _own_space(agent: Who, rows: list[sa.Row[Any]]) -> OwnSpace:
    """The rows of a large space may include the agent or one more member instead; the agent is counted, not listed."""
    others = [Who(row.member_id, row.member_name, row.member_type) for row in rows if row.member_id != agent.id]
    listed = tuple(others[: statements.MAX_MEMBERS])
    first = rows[0]
    return OwnSpace(first.space_id, first.name, first.role, listed, first.how_many - 1 - len(listed))


def _ask_for_other_runs(tx: Tx, look: Look) -> sa.CursorResult[Any]:
    ways = statements.OTHER_RUNS, statements.SHARED_RUNS
    return tx.ask(*_limited(look.person, *ways, agent=look.agent.id, run=look.run_id))


def _other_runs(rows: Iterable[sa.Row[Any]], spaces: Iterable[OwnSpace]) -> tuple[OtherRun, ...]:
    by_id = {space.id: space for space in spaces}
    return tuple(_other_run(row, by_id.get(row.wait_space_id)) for row in rows)


def _other_run(row: sa.Row[Any], space: OwnSpace | None) -> OtherRun:
    if space is None:
        return OtherRun(row.id, row.status, row.trigger, None)
    awaited = _awaited(row.trigger, row.wait, space) if row.status == "waiting_reply" else ()
    return OtherRun(row.id, row.status, row.trigger, space.name, awaited)


def _awaited(trigger: Mapping[str, Any], wait: Mapping[str, Any] | None, space: OwnSpace) -> tuple[str, ...]:
    """The members that the wait names. Otherwise any member may answer; the sender of the trigger comes first, because
    it is the likeliest to do so."""
    if wait and "fromNames" in wait:
        return tuple(wait["fromNames"])
    likeliest_first = sorted(space.members, key=lambda member: member.id != trigger.get("senderId"))
    names = [member.name for member in likeliest_first]
    more = len(names[_MAX_AWAITED:]) + space.more_members
    others = (f"and {more} other{'s' if more > 1 else ''}",) if more else ()
    return (*names[:_MAX_AWAITED], *others)
