"""Failed runs of all agents, for administrators, without messages and spaces: an administrator must learn that an agent
failed, even in a space of which they are not a member."""

from __future__ import annotations

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.runs.view.shapes import RunErrorJson
from majlis.store.tables import entities, runs
from majlis.store.transactions import Tx

_DAY_MILLIS = 86_400_000
# Bounds the cost: there is no index of failed runs.
_NEWEST = sa.select(*runs.c).order_by(runs.c.id.desc()).limit(2000).subquery()
_FAILED = (
    sa.select(_NEWEST.c.id, _NEWEST.c.agent_id, entities.c.name, _NEWEST.c.error, _NEWEST.c.ended_at)
    .join(entities, entities.c.id == _NEWEST.c.agent_id)
    .where(_NEWEST.c.status == "failed", _NEWEST.c.ended_at >= sa.bindparam("since"), entities.c.deleted_at.is_(None))
    .order_by(_NEWEST.c.id.desc())
    .limit(50)
)


class FailureJson(TypedDict):
    runId: str
    agentId: str
    agentName: str
    error: RunErrorJson | None
    endedAt: str


def list_failures(tx: Tx, caller: Caller) -> list[FailureJson]:
    require_administrator(caller)
    rows = tx.all(_FAILED, {"since": tx.now - _DAY_MILLIS})
    return [
        {
            "runId": row.id,
            "agentId": row.agent_id,
            "agentName": row.name,
            "error": row.error,
            "endedAt": iso(row.ended_at),
        }
        for row in rows
    ]
