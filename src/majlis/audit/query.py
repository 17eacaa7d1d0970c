"""Reads the audit log, for owners."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.errors import Forbidden
from majlis.store.tables import audit
from majlis.store.transactions import Tx


class ActorJson(TypedDict):
    id: str
    name: str


class AuditEntryJson(TypedDict):
    id: str
    at: str
    actor: ActorJson
    action: str
    target: str | None
    details: dict[str, Any]


class AuditPageJson(TypedDict):
    entries: list[AuditEntryJson]
    hasMore: bool


class Reader(Protocol):
    @property
    def role(self) -> Literal["owner", "admin", "member"]: ...


def list_audit(
    tx: Tx,
    caller: Reader,
    actor_id: str | None = None,
    action: str | None = None,
    from_: int | None = None,
    before: str | None = None,
    limit: int = 50,
) -> AuditPageJson:
    """Newest first. `action` may be a whole one, or a thing: `token` finds `token.created`."""
    if caller.role != "owner":
        raise Forbidden("not_allowed", "Only an owner of this gateway can read the audit log.")
    statement = sa.select(audit).order_by(audit.c.id.desc()).limit(limit + 1)
    if actor_id is not None:
        statement = statement.where(audit.c.actor_id == actor_id)
    if action is not None:
        of_thing = sa.and_(audit.c.action > f"{action}.", audit.c.action < f"{action}/")
        statement = statement.where(sa.or_(audit.c.action == action, of_thing))
    if from_ is not None:
        statement = statement.where(audit.c.at >= from_)
    if before is not None:
        statement = statement.where(audit.c.id < before)
    rows = tx.all(statement)
    return {"entries": [_entry_json(row) for row in rows[:limit]], "hasMore": len(rows) > limit}


def _entry_json(row: sa.Row[Any]) -> AuditEntryJson:
    return {
        "id": row.id,
        "at": iso(row.at),
        "actor": {"id": row.actor_id, "name": row.actor_name},
        "action": row.action,
        "target": row.target,
        "details": row.details,
    }
