"""The event log: events are numbered per topic, written in the transaction that causes them, and sent after its commit.

A topic is a space, or an entity for its own notices. Recording an event increments the number in the topic's row and so
takes its lock: numbers ascend in commit order without gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from majlis.store.hot import among, hot
from majlis.store.tables import entities, events, spaces
from majlis.store.transactions import Tx

_INSERT = hot(events.insert())
_HEADS = {
    table: hot(sa.select(table.c.id, table.c.event_seq).where(among(table.c.id, "topics")))
    for table in (spaces, entities)
}
_BETWEEN = hot(
    sa.select(events)
    .where(
        events.c.topic == sa.bindparam("topic"),
        events.c.seq > sa.bindparam("after"),
        events.c.seq <= sa.bindparam("up_to"),
    )
    .order_by(events.c.seq)
)
_LAST_OF_SPACE = hot(
    spaces.update()
    .where(spaces.c.id == sa.bindparam("topic"), spaces.c.deleted_at.is_(None))
    .values(event_seq=spaces.c.event_seq + sa.bindparam("count", type_=sa.BigInteger), event_at=sa.bindparam("at"))
    .returning(spaces.c.event_seq)
)
# One round trip on PostgreSQL. SQLite has no such statement, and no round trips.
_TOGETHER = hot(
    sa.text("""
        WITH numbered AS (
            UPDATE spaces SET event_seq = event_seq + :count, event_at = :at
            WHERE id = :topic AND deleted_at IS NULL
            RETURNING event_seq - :count AS before
        )
        INSERT INTO events (topic, seq, type, data, at)
        SELECT :topic, before + n, one.type, one.head || (before + n) || '}', :at
        FROM numbered, unnest(CAST(:types AS text[]), CAST(:heads AS text[])) WITH ORDINALITY AS one (type, head, n)
        RETURNING seq
    """)
    .bindparams(
        sa.bindparam("topic", type_=sa.String),
        sa.bindparam("count", type_=sa.BigInteger),
        sa.bindparam("at", type_=sa.BigInteger),
        sa.bindparam("types", type_=postgresql.ARRAY(sa.Text)),
        sa.bindparam("heads", type_=postgresql.ARRAY(sa.Text)),
    )
    .columns(sa.column("seq", sa.BigInteger))
)
_NEXT_OF_ENTITY = hot(
    entities.update()
    .where(entities.c.id == sa.bindparam("topic"))
    .values(event_seq=entities.c.event_seq + 1)
    .returning(entities.c.event_seq)
)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """A row of the log. `data` is JSON text exactly as sent to clients."""

    topic: str
    seq: int
    type: str
    data: str
    at: int


@dataclass(frozen=True, slots=True)
class TokenEnded:
    """Sent after the commit, not logged: ends the streams that were opened with this token."""

    token_id: str


@dataclass(frozen=True, slots=True)
class Signal:
    """Sent after the commit to the subscribers of the subject, not logged."""

    subject: str
    payload: bytes


def record_for_space(tx: Tx, space_id: str, type: str, data: dict[str, Any]) -> int:
    """Takes the space's lock. Returns the event's number."""
    seq: int = tx.execute(_LAST_OF_SPACE, {"topic": space_id, "at": tx.now, "count": 1}).scalar_one()
    append(tx, space_id, seq, type, data)
    return seq


def record_together(tx: Tx, happened: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
    """Records events (space, type, data), with one statement per space. Locks spaces in the order of ids, and skips
    deleted ones."""
    for space_id in sorted({space for space, _, _ in happened}):
        heads = [(kind, _head(kind, data)) for space, kind, data in happened if space == space_id]
        if tx.dialect == "postgresql":
            _record_at_once(tx, space_id, heads)
        else:
            tx.outbox += _record_in_turn(tx, space_id, heads)


def _record_at_once(tx: Tx, space_id: str, heads: list[tuple[str, str]]) -> None:
    """The numbers arrive with the next round trip."""
    types, texts = [kind for kind, _ in heads], [head for _, head in heads]
    given = {"topic": space_id, "at": tx.now, "count": len(heads), "types": types, "heads": texts}
    numbered = tx.ask(_TOGETHER, given)

    def events() -> list[LoggedEvent]:
        numbers = sorted(row.seq for row in numbered.all())
        return [_numbered(tx, space_id, seq, *each) for seq, each in zip(numbers, heads, strict=bool(numbers))]

    tx.send(events)


def _record_in_turn(tx: Tx, space_id: str, heads: list[tuple[str, str]]) -> list[LoggedEvent]:
    last = tx.execute(_LAST_OF_SPACE, {"topic": space_id, "at": tx.now, "count": len(heads)}).scalar_one_or_none()
    if last is None:
        return []
    events = [_numbered(tx, space_id, seq, *each) for seq, each in enumerate(heads, last - len(heads) + 1)]
    tx.execute(_INSERT, [_row(event) for event in events])
    return events


def record_for_entity(tx: Tx, entity_id: str, type: str, data: dict[str, Any]) -> int:
    """Takes the entity's lock: always after a space's lock (see docs/store.md)."""
    seq: int = tx.execute(_NEXT_OF_ENTITY, {"topic": entity_id}).scalar_one()
    append(tx, entity_id, seq, type, data)
    return seq


def append(tx: Tx, topic: str, seq: int, type: str, data: dict[str, Any]) -> None:
    """For callers that have already taken the number. A space's events contain it, so that a client knows which events
    its loaded state includes."""
    if topic.startswith("spc_"):
        event = _numbered(tx, topic, seq, type, _head(type, data))
    else:
        event = LoggedEvent(topic, seq, type, orjson.dumps({"type": type, **data}).decode(), tx.now)
    tx.later(_INSERT, _row(event))
    tx.outbox.append(event)


def _head(type: str, data: dict[str, Any]) -> str:
    """The JSON of a space's event up to its number, which comes last."""
    return f'{orjson.dumps({"type": type, **data}).decode()[:-1]},"eventSeq":'


def _numbered(tx: Tx, topic: str, seq: int, type: str, head: str) -> LoggedEvent:
    return LoggedEvent(topic, seq, type, f"{head}{seq}}}", tx.now)


def _row(event: LoggedEvent) -> dict[str, Any]:
    return {"topic": event.topic, "seq": event.seq, "type": event.type, "data": event.data, "at": event.at}


def read_events(tx: Tx, topic: str, after: int, up_to: int) -> list[LoggedEvent]:
    return [LoggedEvent(**row._mapping) for row in tx.all(_BETWEEN, {"topic": topic, "after": after, "up_to": up_to})]


def heads(tx: Tx, topics: list[str]) -> dict[str, int]:
    """The number of the newest event of each topic that exists."""
    found: dict[str, int] = {}
    for table in (spaces, entities):
        wanted = [topic for topic in topics if topic.startswith("spc_") == (table is spaces)]
        if wanted:
            found.update({row.id: row.event_seq for row in tx.all(_HEADS[table], {"topics": wanted})})
    return found
