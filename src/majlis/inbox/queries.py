"""Deliveries, inboxes and past cycles, for the API: people can see what became of each message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.agents import access_agent
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.inbox.standby import STANDS_BY
from majlis.inbox.trigger_shapes import TriggerType
from majlis.spaces.damaged_rows import Unreadable, reading
from majlis.spaces.history import access_message
from majlis.store.tables import cycles, deliveries, entities, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

DeliveryState = Literal["pending", "taken", "done", "passed", "failed", "collected", "parked", "withdrawn"]

_elected = entities.alias("elected")
# A literal, not a bound value, so that the partial index on pending deliveries is used.
_PENDING = deliveries.c.state == sa.literal("pending", literal_execute=True)


class MessageDeliveryJson(TypedDict):
    agentId: str
    agentName: str
    state: DeliveryState
    # Why the gateway passed it over, or which agent is asked first (E12).
    reason: str | None
    runId: str | None
    attempts: int
    nextAttemptAt: str | None


class DeliveryJson(TypedDict):
    id: str
    type: TriggerType
    eventId: str
    spaceId: str | None
    messageId: str | None
    state: DeliveryState
    runId: str | None
    attempts: int
    nextAttemptAt: str | None
    createdAt: str


class CycleJson(TypedDict):
    n: int
    runId: str
    messages: list[Any]
    summary: str | None
    tokens: int
    createdAt: str


class CyclePageJson(TypedDict):
    cycles: list[CycleJson]
    hasMore: bool


def list_deliveries(tx: Tx, caller: Caller, message_id: str) -> list[MessageDeliveryJson]:
    """One per agent that the message was delivered to."""
    access_message(tx, caller, message_id)
    statement = (
        sa.select(*deliveries.c, entities.c.name.label("agent_name"), _elected.c.name.label("elected_name"))
        .join(entities, entities.c.id == deliveries.c.agent_id)
        .outerjoin(_elected, sa.and_(_elected.c.id == deliveries.c.elected_id, STANDS_BY))
        .where(deliveries.c.message_id == message_id)
        .order_by(deliveries.c.id)
    )
    return [
        {
            "agentId": row.agent_id,
            "agentName": row.agent_name,
            "state": row.state,
            "reason": _reason(row),
            "runId": row.run_id,
            "attempts": row.attempts,
            "nextAttemptAt": _next_attempt(tx, row),
        }
        for row in tx.all(statement)
    ]


def list_inbox(tx: Tx, caller: Caller, agent_id: str, limit: int = 50) -> list[DeliveryJson]:
    """Pending and taken deliveries, oldest first."""
    access_agent(tx, caller, agent_id)
    active = sa.select(runs.c.id).where(runs.c.agent_id == agent_id, NOT_OVER)
    # Taken deliveries are found through their runs, so the cost does not grow with the history.
    ways = (
        sa.and_(deliveries.c.agent_id == agent_id, _PENDING),
        sa.and_(deliveries.c.run_id.in_(active), deliveries.c.state == "taken"),
    )
    oldest = [sa.select(deliveries.c.id).where(way).order_by(deliveries.c.id).limit(limit).subquery() for way in ways]
    found = sa.union_all(*(sa.select(ids.c.id) for ids in oldest))
    rows = tx.all(sa.select(deliveries).where(deliveries.c.id.in_(found)).order_by(deliveries.c.id).limit(limit))
    return [_delivery_json(tx, row) for row in rows]


def list_cycles(tx: Tx, caller: Caller, agent_id: str, limit: int = 20, before: int | None = None) -> CyclePageJson:
    """The agent's past cycles, newest first; `before` is the number of the last cycle on the previous page."""
    access_agent(tx, caller, agent_id)
    statement = sa.select(cycles).where(cycles.c.agent_id == agent_id).order_by(cycles.c.n.desc()).limit(limit + 1)
    if before is not None:
        statement = statement.where(cycles.c.n < before)
    rows = _cycles(tx, statement)
    return {"cycles": [_cycle_json(row) for row in rows[:limit]], "hasMore": len(rows) > limit}


def _cycles(tx: Tx, page: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
    """A damaged cycle is listed without its messages (R9)."""
    try:
        with reading():
            return tx.all(page)
    except Unreadable:
        return [_one_cycle(tx, page.where(cycles.c.n == row.n)) for row in tx.all(page.with_only_columns(cycles.c.n))]


def _one_cycle(tx: Tx, one: sa.Select[Any]) -> sa.Row[Any]:
    try:
        with reading():
            return tx.execute(one).one()
    except Unreadable:
        return tx.execute(one.with_only_columns(*(each for each in cycles.c if each.name != "messages"))).one()


def _delivery_json(tx: Tx, row: sa.Row[Any]) -> DeliveryJson:
    return {
        "id": row.id,
        "type": row.type,
        "eventId": _event_id(row),
        "spaceId": row.space_id,
        "messageId": row.message_id,
        "state": row.state,
        "runId": row.run_id,
        "attempts": row.attempts,
        "nextAttemptAt": _next_attempt(tx, row),
        "createdAt": iso(row.created_at),
    }


def _event_id(row: sa.Row[Any]) -> str:
    """The id as K1 defines it. The stored id also contains the sender, since two services may use the same one."""
    told: str = row.payload.get("eventId") or row.payload.get("toolCallId") or row.event_id
    return told


def _reason(row: sa.Row[Any]) -> str | None:
    if row.state == "pending" and row.elected_name is not None:
        return f"{row.elected_name} is asked first"
    reason: str | None = row.payload.get("reason")
    return reason


def _next_attempt(tx: Tx, row: sa.Row[Any]) -> str | None:
    """The time of the next attempt, while the delivery is backing off."""
    if row.elected_id is not None and row.attempts == 0:
        return None
    return iso(row.not_before) if row.state == "pending" and row.not_before > tx.now else None


def _cycle_json(row: sa.Row[Any]) -> CycleJson:
    return {
        "n": row.n,
        "runId": row.run_id,
        "messages": _said(row),
        "summary": row.summary,
        "tokens": row.tokens,
        "createdAt": iso(row.created_at),
    }


def _said(row: sa.Row[Any]) -> list[dict[str, Any]]:
    said = row._mapping.get("messages")
    return said if isinstance(said, list) else []
