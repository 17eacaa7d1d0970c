"""Reads what a stream has missed, in one snapshot: everything, or a resync. Never a part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa

from majlis.live.cursor import OVERLAP_MILLIS, GatewayCursor, SpaceCursor, tag
from majlis.live.log import LoggedEvent
from majlis.live.stream import Listener
from majlis.store.hot import hot
from majlis.store.tables import entities, events, members, spaces, tokens
from majlis.store.transactions import Tx

REPLAY_LIMIT = 1000
REPLAY_CHARACTERS = 8 * 1024 * 1024

_EVENTS = sa.select(events)
_AFTER = hot(
    _EVENTS.where(events.c.topic == sa.bindparam("topic"), events.c.seq > sa.bindparam("after")).order_by(events.c.seq)
)
_SPACE = hot(
    sa.select(spaces.c.event_seq)
    .join(members, members.c.space_id == spaces.c.id)
    .where(
        spaces.c.id == sa.bindparam("space"),
        spaces.c.deleted_at.is_(None),
        members.c.entity_id == sa.bindparam("entity"),
    )
)
_OWN_HEAD = hot(
    sa.select(entities.c.event_seq).where(entities.c.id == sa.bindparam("entity"), entities.c.deleted_at.is_(None))
)


@dataclass(slots=True)
class Start:
    """A stream's position in each topic before `missed`, and the log's `heads` after it."""

    positions: dict[str, int]
    heads: dict[str, int]
    missed: list[LoggedEvent]
    resync: bool = False
    moved_at: dict[str, int] | None = None


def start_space_stream(
    tx: Tx, caller: Listener, space_id: str, cursor: SpaceCursor | None, known: bool
) -> Start | None:
    """None if the caller is not a member or has been deleted."""
    space = tx.one(_SPACE, {"space": space_id, "entity": caller.id})
    own_head = _own_head(tx, caller)
    if space is None or own_head is None:
        return None
    heads = {space_id: space.event_seq, caller.id: own_head}
    afresh = Start(dict(heads), heads, [], resync=known)
    if cursor is None:
        return afresh
    wanted = {space_id: cursor.seq, caller.id: cursor.own_seq}
    missed: list[LoggedEvent] = []
    for topic, seq in wanted.items():
        part = _whole(tx, topic, seq, heads[topic])
        if part is None:
            return afresh
        missed += part
    return afresh if _is_too_long(missed) else Start(wanted, heads, _in_order(missed))


def start_gateway_stream(
    tx: Tx, caller: Listener, cursor: GatewayCursor | None, known: bool, kept: int
) -> Start | None:
    """None if the caller has been deleted. The log keeps events for `kept` milliseconds."""
    own_head = _own_head(tx, caller)
    if own_head is None:
        return None
    mine = tx.all(
        sa.select(spaces.c.id, spaces.c.event_seq, spaces.c.event_at, members.c.joined_at)
        .join(members, members.c.space_id == spaces.c.id)
        .where(members.c.entity_id == caller.id, spaces.c.deleted_at.is_(None))
    )
    heads = {row.id: row.event_seq for row in mine} | {caller.id: own_head}
    moved_at = {row.id: row.event_at for row in mine if row.event_at > tx.now - 2 * OVERLAP_MILLIS}
    afresh = Start(dict(heads), heads, [], resync=known, moved_at=moved_at)
    since = (cursor.at if cursor else 0) - OVERLAP_MILLIS
    # A cursor from the future: the clock has been set back, so events may be older than they look.
    if cursor is None or since < tx.now - kept or cursor.at > tx.now + OVERLAP_MILLIS:
        return afresh
    own = _whole(tx, caller.id, cursor.own_seq, own_head)
    rows = tx.all(
        _EVENTS.join(spaces, spaces.c.id == events.c.topic)
        .join(members, members.c.space_id == events.c.topic)
        .where(
            members.c.entity_id == caller.id,
            spaces.c.event_at > since,
            events.c.seq > spaces.c.event_seq - REPLAY_LIMIT,
            events.c.at > since,
        )
        .order_by(events.c.topic, events.c.seq)
        .limit(2 * REPLAY_LIMIT)
    )
    if own is None or len(rows) >= 2 * REPLAY_LIMIT:
        return afresh
    joined_at = {row.id: row.joined_at for row in mine}
    missed = list(own)
    for row in rows:
        known_seq = cursor.recent.get(tag(row.topic))
        if row.seq > known_seq if known_seq is not None else row.at >= joined_at[row.topic]:
            missed.append(LoggedEvent(**row._mapping))
    positions = _positions_before(missed, heads)
    if len(missed) > REPLAY_LIMIT or _is_too_long(missed) or not _complete(missed, positions, heads, cursor):
        return afresh
    return Start(positions, heads, _in_order(missed), moved_at=moved_at)


def is_member(tx: Tx, space_id: str, entity_id: str) -> bool:
    which = sa.exists().where(members.c.space_id == space_id, members.c.entity_id == entity_id)
    return bool(tx.execute(sa.select(which)).scalar_one())


def valid_tokens(tx: Tx, token_ids: set[str]) -> set[str]:
    """The tokens that are still valid."""
    statement = (
        sa.select(tokens.c.id)
        .join(entities, entities.c.id == tokens.c.entity_id)
        .where(tokens.c.id.in_(token_ids), tokens.c.ended_at.is_(None), entities.c.deleted_at.is_(None))
    )
    return {row.id for row in tx.all(statement)}


def _own_head(tx: Tx, caller: Listener) -> int | None:
    head: int | None = tx.execute(_OWN_HEAD, {"entity": caller.id}).scalar_one_or_none()
    return head


def _whole(tx: Tx, topic: str, after: int, head: int) -> list[LoggedEvent] | None:
    if not 0 <= head - after <= REPLAY_LIMIT:
        return None
    rows = tx.all(_AFTER, {"topic": topic, "after": after})
    found = [LoggedEvent(**row._mapping) for row in rows if row.seq <= head]
    return found if len(found) == head - after else None


def _is_too_long(missed: list[LoggedEvent]) -> bool:
    return sum(len(event.data) for event in missed) > REPLAY_CHARACTERS


def _positions_before(missed: list[LoggedEvent], heads: dict[str, int]) -> dict[str, int]:
    positions = dict(heads)
    for event in missed:
        positions[event.topic] = min(positions[event.topic], event.seq - 1)
    return positions


def _complete(
    missed: list[LoggedEvent], positions: dict[str, int], heads: dict[str, int], cursor: GatewayCursor
) -> bool:
    """True if every topic's events reach from the client's position, if it is known, to the head without gaps."""
    counts = Counter(event.topic for event in missed)
    return all(
        head - positions[topic] == counts[topic] < REPLAY_LIMIT
        and positions[topic] == cursor.recent.get(tag(topic), positions[topic])
        for topic, head in heads.items()
    )


def _in_order(missed: list[LoggedEvent]) -> list[LoggedEvent]:
    """Sorted by time across topics and by number within one, since a topic's times may not ascend."""
    latest: dict[str, int] = {}
    keyed: list[tuple[int, str, int, LoggedEvent]] = []
    for event in sorted(missed, key=lambda event: (event.topic, event.seq)):
        latest[event.topic] = max(latest.get(event.topic, 0), event.at)
        keyed.append((latest[event.topic], event.topic, event.seq, event))
    return [event for *_, event in sorted(keyed, key=lambda item: item[:3])]
