"""Rings: agents that wait for each other where nobody else can answer (M12). Noticed, and the youngest wait ends.

Somebody can answer a wait if a person or a service may write in its space, or an agent that runs, is about to run,
sleeps (anything may wake it), or itself waits for something that can be answered. What remains waits for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.store.tables import deliveries, entities, members, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import AMONG_AGENTS, NOT_OVER
from majlis.store.transactions import Tx
from majlis.waits.ring_search import find_ring
from majlis.waits.wait import end_wait

# A second later there is another look.
_AT_ONCE = 50

_other = runs.alias("other")
_MAY_WRITE = members.c.role != "viewer"
# As one list: for each member anew it would be read as often as there are waits, where PostgreSQL knows no better yet.
_WAITING_AMONG_AGENTS = sa.select(_other.c.agent_id).where(
    _other.c.ended_at.is_(None), _other.c.status == word("waiting_reply"), _other.c.among_agents
)
_HOPE = (
    sa.exists()
    .where(
        members.c.space_id == runs.c.wait_space_id,
        members.c.entity_id != runs.c.agent_id,
        _MAY_WRITE,
        members.c.entity_id.not_in(_WAITING_AMONG_AGENTS),
    )
    .correlate(runs)
)
# However many wait for somebody who sleeps, only those whose every answerer waits too are read.
_SUSPECTS = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.wait_space_id, runs.c.wait, runs.c.chain_depth)
    .where(runs.c.status == word("waiting_reply"), AMONG_AGENTS, ~_HOPE)
    .limit(1000)
)
_SOMEBODY_ELSE = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.space_id == sa.bindparam("space"), entities.c.type != "agent", _MAY_WRITE)
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
    """The hook for members who leave, or may only read: with the last person goes who would have noticed a ring."""
    if are_among_agents(tx, space_id):
        tx.execute(_NOW_AMONG_AGENTS, {"space": space_id})


def end_rings(tx: Tx) -> int:
    """How many waits were ended. Costs one look at an index that is nearly always empty."""
    waits = list(tx.all(_SUSPECTS))
    if len(waits) < 2:
        return 0
    writers = _writers(tx, {run.wait_space_id for run in waits})
    able = set[str]().union(*writers.values()) - {run.agent_id for run in waits} | _busy(tx, waits)
    ended = 0
    for _ in range(_AT_ONCE):
        ring = find_ring(waits, writers, able)
        if not ring:
            break
        youngest = max(ring, key=lambda run: (run.wait["startedAt"], run.id))
        ended += _end(tx, youngest)
        # Who goes on may answer others.
        waits.remove(youngest)
        able.add(youngest.agent_id)
    if ended:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return ended


def _end(tx: Tx, run: sa.Row[Any]) -> bool:
    outcome: Any = {"status": "timeout", "reason": "deadlock", "at": iso(tx.now)}
    return end_wait(tx, run.id, run.wait, run.chain_depth, outcome)


def _writers(tx: Tx, spaces: set[str]) -> dict[str, set[str]]:
    rows = tx.all(sa.select(members.c.space_id, members.c.entity_id).where(members.c.space_id.in_(spaces), _MAY_WRITE))
    found: dict[str, set[str]] = {space: set() for space in spaces}
    for row in rows:
        found[row.space_id].add(row.entity_id)
    return found


def _busy(tx: Tx, waits: Sequence[sa.Row[Any]]) -> set[str]:
    """Those of the waiting agents that are owed something, or have another run: at work, or with hope."""
    agents = {run.agent_id for run in waits}
    elsewhere = sa.select(runs.c.agent_id).where(
        runs.c.agent_id.in_(agents), NOT_OVER, runs.c.id.not_in([run.id for run in waits])
    )
    owed = sa.select(deliveries.c.agent_id).where(deliveries.c.agent_id.in_(agents), deliveries.c.state == "pending")
    return {row.agent_id for row in tx.all(sa.union(elsewhere, owed))}
