"""Deadlocks: agents that wait for each other where no one else can answer (M12). The youngest wait of a ring ends.

A wait can be answered if enough of its answerers can act: a person or service that may write in its space, or an agent
that runs, is about to run, is idle (anything may wake it), or itself waits for something that can be answered. If the
wait names members, only they count (W9). The remaining waits are stuck. A wait for a member of a ring is not part of
the ring: it can be answered as soon as the ring is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.store.tables import deliveries, entities, members, runs, wait_answers
from majlis.store.tables.columns import word
from majlis.store.tables.runs import AMONG_AGENTS, NOT_OVER
from majlis.store.transactions import Tx
from majlis.waits.wait import Wait, end_unanswered

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
# Only waits whose every possible answerer waits too are read, however many wait for an idle agent; and those that name
# members.
_SUSPECTS = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.wait_space_id, runs.c.wait, runs.c.chain_depth)
    .where(
        runs.c.status == word("waiting_reply"),
        AMONG_AGENTS,
        sa.or_(~_CAN_BE_ANSWERED, runs.c.wait["from"].as_string().is_not(None)),
    )
    .limit(1000)
)
_NON_AGENT = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.space_id == sa.bindparam("space"), entities.c.type != "agent", _MAY_WRITE)
    .limit(1)
)
_COLLECTED = sa.select(wait_answers).where(wait_answers.c.run_id.in_(sa.bindparam("runs", expanding=True)))
_MARK_AMONG_AGENTS = (
    runs.update()
    .where(runs.c.wait_space_id == sa.bindparam("space"), runs.c.status == word("waiting_reply"))
    .values(among_agents=True)
)


def are_among_agents(tx: Tx, space_id: str) -> bool:
    """True if only agents may write there."""
    return tx.one(_NON_AGENT, {"space": space_id}) is None


def leave_to_agents(tx: Tx, space_id: str, entity_id: str) -> None:
    """Hook for a member who leaves or becomes a viewer: without people, waits in the space can deadlock."""
    if are_among_agents(tx, space_id):
        tx.execute(_MARK_AMONG_AGENTS, {"space": space_id})


def end_deadlocks(tx: Tx) -> int:
    """How many waits were ended. Costs one look at an index that is nearly always empty."""
    rows = {row.id: row for row in tx.all(_SUSPECTS)}
    if len(rows) < 2:
        return 0
    waits = _open_waits(tx, list(rows.values()))
    able = set[str]().union(*(wait.answerers for wait in waits)) - {wait.agent_id for wait in waits}
    able |= _busy(tx, list(rows.values()))
    ended = 0
    for _ in range(_AT_ONCE):
        ring = find_ring(waits, able)
        if not ring:
            break
        youngest = max(ring, key=lambda wait: (rows[wait.run_id].wait["startedAt"], wait.run_id))
        ended += end_unanswered(tx, rows[youngest.run_id], "deadlock")
        # The agent that goes on may answer others.
        waits.remove(youngest)
        able.add(youngest.agent_id)
    if ended:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return ended


@dataclass(frozen=True, slots=True)
class OpenWait:
    """`answerers` are the members who can still answer, `needed` is how many of them have to."""

    run_id: str
    agent_id: str
    answerers: frozenset[str]
    needed: int = 1


def _open_waits(tx: Tx, rows: Sequence[sa.Row[Any]]) -> list[OpenWait]:
    writers = _writers(tx, {row.wait_space_id for row in rows})
    parsed = {row.id: Wait.model_validate(row.wait) for row in rows}
    answered: dict[str, set[str]] = {row.id: set() for row in rows}
    collecting = [run_id for run_id, wait in parsed.items() if wait.n is not None]
    for each in tx.all(_COLLECTED, {"runs": collecting}) if collecting else ():
        if each.wait_n == parsed[each.run_id].n:
            answered[each.run_id].add(each.entity_id)
    return [_open_wait(row, parsed[row.id], writers[row.wait_space_id], answered[row.id]) for row in rows]


def _open_wait(row: sa.Row[Any], wait: Wait, writers: set[str], answered: set[str]) -> OpenWait:
    named = writers if wait.from_ is None else writers & set(wait.from_)
    return OpenWait(row.id, row.agent_id, frozenset(named - answered - {row.agent_id}), wait.needed - len(answered))


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


def find_ring(waits: Sequence[OpenWait], able: set[str]) -> Sequence[OpenWait]:
    """`able`: which members can act now. Several rings are found as one."""
    return _in_rings(_stuck(waits, able))


def _stuck(waits: Sequence[OpenWait], able: set[str]) -> Sequence[OpenWait]:
    """An agent that can be answered can then answer others: remove such waits until nothing changes."""
    while True:
        stuck = [wait for wait in waits if len(wait.answerers & able) < wait.needed]
        if len(stuck) == len(waits):
            return stuck
        able = able | {wait.agent_id for wait in waits if len(wait.answerers & able) >= wait.needed}
        waits = stuck


def _in_rings(waits: Sequence[OpenWait]) -> Sequence[OpenWait]:
    """Removes loose ends: waits that none of the others could answer, and those of agents that no other waits for."""
    while True:
        agents = {wait.agent_id for wait in waits}
        awaited = set[str]().union(*(wait.answerers for wait in waits))
        ring = [wait for wait in waits if wait.agent_id in awaited and wait.answerers & agents]
        if len(ring) == len(waits):
            return ring
        waits = ring
