"""The audit log, for owners."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from majlis.api.auth import TheEntry
from majlis.api.bodies import IdText, Moment, PageLimit, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.audit.query import AuditPageJson, list_audit
from majlis.clock import parse_iso

router = new_router("audit")


@router.get("/api/audit", response_model=AuditPageJson, responses=refusals())
async def list_entries(
    entry: TheEntry,
    actor_id: Annotated[IdText | None, Query(alias="actorId")] = None,
    action: Annotated[str | None, Query(max_length=64, description="`token.created`, or `token` for all.")] = None,
    from_: Annotated[Moment | None, Query(alias="from")] = None,
    before: Annotated[IdText | None, Query(description="The last id of the previous page.")] = None,
    limit: PageLimit = 50,
) -> Response:
    """Administrative acts, sign-ins, tokens, approvals, exports and uses of secrets, newest first. For owners."""
    since = parse_iso(from_) if from_ is not None else None
    return reply(await entry.read(list_audit, actor_id, action, since, before, limit))
