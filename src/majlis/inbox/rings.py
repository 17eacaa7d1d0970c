"""Rings: agents that wait for each other where nobody else can answer (M12). Noticed, and the youngest wait ends.

Somebody can answer a wait if a person or a service may write in its space, or an agent that runs, is about to run,
sleeps (anything may wake it), or itself waits for something that can be answered. What remains waits for itself.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.inbox.waiting import end_wait
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.store.tables import deliveries, entities, members, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import AMONG_AGENTS, NOT_OVER
from majlis.store.transactions import Tx

_AMONG_AGENTS = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.wait_space_id, runs.c.wait, runs.c.chain_depth)
    .where(runs.c.status == word("waiting_reply"), AMONG_AGENTS)
    .order_by(runs.c.id)
    .limit(1000)
)
_SOMEBODY_ELSE = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.space_id == sa.bindparam("space"), entities.c.type != "agent", members.c.role != "viewer")
    .limit(1)
)
_NOW_AMONG_AGENTS = (
    runs.update()
    .where(runs.c.wait_space_id == sa.bindparam("space"), runs.c.status == word("waiting_reply"))
    .values(among_agents=True)
)


def are_among_agents(tx: Tx, space_id: str) -> bool:
    """Nobody but agents may write there."""
    return tx.one(_SOMEBODY_ELSE, {"space": space_id}) is None


def leave_to_agents(tx: Tx, space_id: str, entity_id: str) -> None:
    """The hook for members who leave: with the last person goes who would have noticed a ring."""
    if are_among_agents(tx, space_id):
        tx.execute(_NOW_AMONG_AGENTS, {"space": space_id})


def end_rings(tx: Tx) -> int:
    """How many waits were ended. Costs one look at an index that is nearly always empty."""
    waits = tx.all(_AMONG_AGENTS)
    if len(waits) < 2:
        return 0
    stuck = _stuck(tx, waits)
    if not stuck:
        return 0
    youngest = max(stuck, key=lambda run: (run.wait["startedAt"], run.id))
    outcome: Any = {"status": "timeout", "reason": "deadlock", "at": iso(tx.now)}
    ended = end_wait(tx, youngest.id, youngest.wait, youngest.chain_depth, outcome)
    if ended:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return int(ended)


def _stuck(tx: Tx, waits: Any) -> list[sa.Row[Any]]:
    answerers = _answerers(tx, {run.wait_space_id for run in waits})
    agents = {agent for each in answerers.values() for agent, is_agent in each if is_agent}
    able = _busy(tx, agents) | _waiting_elsewhere(tx, agents) | (agents - {run.agent_id for run in waits})
    remaining = list(waits)
    while True:
        freed = [run for run in remaining if _can_be_answered(run, answerers[run.wait_space_id], able)]
        if not freed:
            return remaining
        able |= {run.agent_id for run in freed}
        remaining = [run for run in remaining if run not in freed]


def _can_be_answered(run: sa.Row[Any], answerers: list[tuple[str, bool]], able: set[str]) -> bool:
    return any(not is_agent or agent in able for agent, is_agent in answerers if agent != run.agent_id)


def _answerers(tx: Tx, spaces: set[str]) -> dict[str, list[tuple[str, bool]]]:
    rows = tx.all(
        sa.select(members.c.space_id, members.c.entity_id, entities.c.type)
        .join(entities, entities.c.id == members.c.entity_id)
        .where(members.c.space_id.in_(spaces), members.c.role != "viewer")
    )
    found: dict[str, list[tuple[str, bool]]] = {space: [] for space in spaces}
    for row in rows:
        found[row.space_id].append((row.entity_id, row.type == "agent"))
    return found


def _busy(tx: Tx, agents: set[str]) -> set[str]:
    running = sa.select(runs.c.agent_id).where(
        runs.c.agent_id.in_(agents), NOT_OVER, runs.c.status.in_(("queued", "running"))
    )
    owed = sa.select(deliveries.c.agent_id).where(deliveries.c.agent_id.in_(agents), deliveries.c.state == "pending")
    return {row.agent_id for row in tx.all(sa.union(running, owed))}


def _waiting_elsewhere(tx: Tx, agents: set[str]) -> set[str]:
    """Agents with a wait that is not among agents only, or on a tool: they are waiting, yet not hopeless."""
    statement = sa.select(runs.c.agent_id).where(
        runs.c.agent_id.in_(agents),
        NOT_OVER,
        runs.c.status.in_(("waiting_reply", "waiting_tool")),
        ~runs.c.among_agents,
    )
    return {row.agent_id for row in tx.all(statement)}
