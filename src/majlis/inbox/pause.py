"""Pauses an agent, the agents of a space, or all agents of the gateway (E7).

While paused, nothing is lost: messages, answers, timeouts and events are recorded, but start and resume no run. Each
worker puts its running runs back into the queue: at the signal, or when it next looks, within a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from typing_extensions import TypedDict

from majlis.agents.agents import require_agent
from majlis.audit.record import record
from majlis.entities.caller import Caller, require_administrator
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.live import log
from majlis.live.log import Signal
from majlis.spaces.access import lock_spaces
from majlis.spaces.spaces import administer_space, tell_all_space_updated
from majlis.store.tables import agents, deliveries, gateway, members, runs, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx

PAUSED = "paused"

# Uncorrelated, so that each is evaluated once per statement. They are nearly always empty.
_AGENTS = sa.select(agents.c.id).where(agents.c.paused_at.is_not(None))
_SPACES = sa.select(spaces.c.id).where(spaces.c.paused_at.is_not(None))
_GATEWAY = sa.exists().where(gateway.c.key == word("paused"))
IN_PAUSED_SPACE: sa.ColumnElement[bool] = sa.func.coalesce(deliveries.c.space_id, "").in_(_SPACES)
DELIVERY_PAUSED: sa.ColumnElement[bool] = sa.or_(_GATEWAY, deliveries.c.agent_id.in_(_AGENTS), IN_PAUSED_SPACE)
# A cycle belongs to no space: it leaves out the events of a paused one.
RUN_PAUSED: sa.ColumnElement[bool] = sa.or_(
    _GATEWAY,
    runs.c.agent_id.in_(_AGENTS),
    sa.and_(~runs.c.cycle, sa.func.coalesce(runs.c.trigger_space_id, "").in_(_SPACES)),
)
AGENT_PAUSED: sa.ColumnElement[bool] = sa.or_(_GATEWAY, agents.c.paused_at.is_not(None))
_PAUSE_GATEWAY: dict[Dialect, sa.Executable] = {
    "sqlite": sqlite.insert(gateway).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(gateway).on_conflict_do_nothing(),
}


class PausedJson(TypedDict):
    paused: bool


@dataclass(frozen=True, slots=True)
class PauseChanged(Signal):
    """Sent after commit: workers look at once which of their runs are paused."""

    subject: str = PAUSED
    payload: bytes = b""


def pause_agent(tx: Tx, caller: Caller, agent_id: str, paused: bool) -> PausedJson:
    require_administrator(caller)
    require_agent(tx, agent_id)
    joined = [row.space_id for row in tx.all(sa.select(members.c.space_id).where(members.c.entity_id == agent_id))]
    if tx.execute(_change(agents, agent_id, caller, paused, tx.now)).rowcount:
        lock_spaces(tx, joined)
        event = "agent.paused" if paused else "agent.unpaused"
        log.record_together(tx, [(space, event, {"spaceId": space, "agentId": agent_id}) for space in sorted(joined)])
        record(tx, caller, event, agent_id)
        _signal(tx, paused)
    return {"paused": paused}


def pause_space(tx: Tx, caller: Caller, space_id: str, paused: bool) -> PausedJson:
    """For its admins, and the admins of the gateway."""
    administer_space(tx, caller, space_id)
    if tx.execute(_change(spaces, space_id, caller, paused, tx.now)).rowcount:
        tell_all_space_updated(tx, space_id)
        record(tx, caller, "space.paused" if paused else "space.unpaused", space_id)
        _signal(tx, paused)
    return {"paused": paused}


def pause_gateway(tx: Tx, caller: Caller, paused: bool) -> PausedJson:
    require_administrator(caller)
    if paused != is_gateway_paused(tx, caller)["paused"]:
        if paused:
            tx.execute(_PAUSE_GATEWAY[tx.dialect], {"key": PAUSED, "value": caller.id})
        else:
            tx.execute(gateway.delete().where(gateway.c.key == PAUSED))
        record(tx, caller, "gateway.paused" if paused else "gateway.unpaused")
        _signal(tx, paused)
    return {"paused": paused}


def is_gateway_paused(tx: Tx, caller: Caller) -> PausedJson:
    return {"paused": tx.one(sa.select(gateway.c.key).where(gateway.c.key == PAUSED)) is not None}


def _change(table: sa.Table, id: str, caller: Caller, paused: bool, now: int) -> sa.Update:
    was = table.c.paused_at.is_(None) if paused else table.c.paused_at.is_not(None)
    values = {"paused_at": now if paused else None, "paused_by": caller.id if paused else None}
    return table.update().where(table.c.id == id, was).values(values)


def _signal(tx: Tx, paused: bool) -> None:
    tx.outbox.append(PauseChanged() if paused else WorkAvailable(payload=QUEUED))
