"""Deadlocks: agents that wait for each other where no one else can answer (M12). The youngest wait of a ring ends.

A wait can be answered if a person or service may write in its space, or an agent that runs, is about to run, is idle
(anything may wake it), or itself waits for something that can be answered. The remaining waits are stuck. A wait for a
member of a ring is not part of the ring: it can be answered as soon as the ring is broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa

from majlis.clock import iso
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.store.tables import deliveries, entities, members, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import AMONG_AGENTS, NOT_OVER
from majlis.store.transactions import Tx
from majlis.waits.wait import Outcome, end_reply_wait

# Per look; the next look is a second later.
_AT_ONCE = 50

_other = runs.alias("other")
_MAY_WRITE = members.c.role != "viewer"
# One uncorrelated list: PostgreSQL without statistics would otherwise read it once per wait.
_WAITING_AMONG_AGENTS = sa.select(_other.c.agent_id).where(
    _other.c.ended_at.is_(None), _other.c.status == word("waiting_reply"), _other.c.among_agents
)
_CAN_BE_ANSWERED = (
    sa.exists()
    .where(
        members.c.space_id == runs.c.wait_space_id,
        members.c.entity_id != runs.c.agent_id,
        _MAY_WRITE,
        members.c.entity_id.not_in(_WAITING_AMONG_AGENTS),
    )
    .correlate(runs)
)
# Only waits whose every possible answerer waits too are read, however many wait for an idle agent.
_SUSPECTS = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.wait_space_id, runs.c.wait, runs.c.chain_depth)
    .where(runs.c.status == word("waiting_reply"), AMONG_AGENTS, ~_CAN_BE_ANSWERED)
    .limit(1000)
)
_NON_AGENT = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.space_id == sa.bindparam("space"), entities.c.type != "agent", _MAY_WRITE)
    .limit(1)
)
_MARK_AMONG_AGENTS = (
    runs.update()
    .where(runs.c.wait_space_id == sa.bindparam("space"), runs.c.status == word("waiting_reply"))
    .values(among_agents=True)
)


def are_among_agents(tx: Tx, space_id: str) -> bool:
    """Only agents may write there."""
    return tx.one(_NON_AGENT, {"space": space_id}) is None


def leave_to_agents(tx: Tx, space_id: str, entity_id: str) -> None:
    """Hook for a member who leaves or becomes a viewer: without people, waits in the space can deadlock."""
    if are_among_agents(tx, space_id):
        tx.execute(_MARK_AMONG_AGENTS, {"space": space_id})


def end_deadlocks(tx: Tx) -> int:
    """How many waits were ended. Costs one look at an index that is nearly always empty."""
    waits = list(tx.all(_SUSPECTS))
    if len(waits) < 2:
        return 0
    writers = _writers(tx, {run.wait_space_id for run in waits})
    able = set[str]().union(*writers.values()) - {run.agent_id for run in waits} | _busy(tx, waits)
    outcome = Outcome(status="timeout", reason="deadlock", at=iso(tx.now))
    ended = 0
    for _ in range(_AT_ONCE):
        ring = find_ring(waits, writers, able)
        if not ring:
            break
        youngest = max(ring, key=lambda run: (run.wait["startedAt"], run.id))
        ended += end_reply_wait(tx, youngest.id, youngest.wait, youngest.chain_depth, outcome)
        # The agent that goes on may answer others.
        waits.remove(youngest)
        able.add(youngest.agent_id)
    if ended:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return ended


def _writers(tx: Tx, spaces: set[str]) -> dict[str, set[str]]:
    rows = tx.all(sa.select(members.c.space_id, members.c.entity_id).where(members.c.space_id.in_(spaces), _MAY_WRITE))
    found: dict[str, set[str]] = {space: set() for space in spaces}
    for row in rows:
        found[row.space_id].add(row.entity_id)
    return found


def _busy(tx: Tx, waits: Sequence[sa.Row[Any]]) -> set[str]:
    """The waiting agents that have a pending delivery or another run, and so can still act."""
    agents = {run.agent_id for run in waits}
    elsewhere = sa.select(runs.c.agent_id).where(
        runs.c.agent_id.in_(agents), NOT_OVER, runs.c.id.not_in([run.id for run in waits])
    )
    pending = sa.select(deliveries.c.agent_id).where(deliveries.c.agent_id.in_(agents), deliveries.c.state == "pending")
    return {row.agent_id for row in tx.all(sa.union(elsewhere, pending))}


class _Waiting(Protocol):
    @property
    def agent_id(self) -> str: ...
    @property
    def wait_space_id(self) -> str: ...


W = TypeVar("W", bound=_Waiting)
Writers = Mapping[str, set[str]]


def find_ring(waits: Sequence[W], writers: Writers, able: set[str]) -> Sequence[W]:
    """`writers`: who may write in each space; `able`: which of them can act now. Several rings are found as one."""
    return _in_rings(_stuck(waits, writers, able), writers)


def _stuck(waits: Sequence[W], writers: Writers, able: set[str]) -> Sequence[W]:
    """An agent that can be answered can then answer others: remove such waits until nothing changes."""
    while True:
        answerers = _among(able, waits, writers)
        stuck = [wait for wait in waits if not answerers[wait.wait_space_id] - {wait.agent_id}]
        if len(stuck) == len(waits):
            return stuck
        able = able | {wait.agent_id for wait in waits if answerers[wait.wait_space_id] - {wait.agent_id}}
        waits = stuck


def _in_rings(waits: Sequence[W], writers: Writers) -> Sequence[W]:
    """Removes loose ends: waits that none of the others could answer, and those of agents that no other waits for."""
    while True:
        answerers = _among({wait.agent_id for wait in waits}, waits, writers)
        pairs = {(wait.agent_id, wait.wait_space_id) for wait in waits}
        awaited = {writer for agent, space in pairs for writer in writers[space] if writer != agent}
        ring = [wait for wait in waits if wait.agent_id in awaited and answerers[wait.wait_space_id] - {wait.agent_id}]
        if len(ring) == len(waits):
            return ring
        waits = ring


def _among(agents: set[str], waits: Sequence[_Waiting], writers: Writers) -> dict[str, set[str]]:
    return {space: writers[space] & agents for space in {wait.wait_space_id for wait in waits}}
