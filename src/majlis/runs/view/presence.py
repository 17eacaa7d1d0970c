"""Which agents are active in a space now: the start of every live stream."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from majlis.runs.run import spaces_of_run
from majlis.store.tables import members, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

_AT_WORK = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.trigger, runs.c.trigger_space_id, runs.c.active_space_id)
    .where(NOT_OVER, runs.c.status == "running")
    .order_by(runs.c.id)
)


def spaces_of(tx: Tx, entity_id: str) -> list[str]:
    return [row.space_id for row in tx.all(sa.select(members.c.space_id).where(members.c.entity_id == entity_id))]


def active_agents(tx: Tx, space_ids: Sequence[str]) -> list[dict[str, str]]:
    """Running runs are few, however long the history, so all are read and filtered here."""
    wanted = set(space_ids)
    return [
        {"agentId": run.agent_id, "runId": run.id, "spaceId": space}
        for run in tx.all(_AT_WORK)
        for space in sorted(spaces_of_run(run) & wanted)
    ]
