"""Health check and metrics."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Literal

import sqlalchemy as sa
from fastapi import APIRouter, Response
from typing_extensions import TypedDict

from majlis import __version__, metrics
from majlis.api.auth import TheGateway
from majlis.api.bodies import reply
from majlis.api.error_responses import refusals
from majlis.errors import Unavailable
from majlis.gateway import Gateway
from majlis.runs.claim.poll import count_open

router = APIRouter(tags=["health"])
_TIMEOUT_SECONDS = 3


class HealthJson(TypedDict):
    status: Literal["ok"]
    version: str
    database: str
    bus: str


@router.get("/api/health", response_model=HealthJson, responses=refusals())
async def get_health(gateway: TheGateway) -> Response:
    problem = await _database_problem(gateway) or gateway.bus.problem()
    if problem is not None:
        raise Unavailable("unhealthy", f"Majlis is not healthy: {problem}.")
    return reply({"status": "ok", "version": __version__, "database": gateway.db.dialect, "bus": gateway.bus.kind})


@router.get("/metrics", response_class=Response, include_in_schema=False)
async def get_metrics(gateway: TheGateway) -> Response:
    with contextlib.suppress(Exception):
        # These two are counted on request. If the database is down, /api/health reports it.
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            pending, waiting = await gateway.db.read(count_open)
        metrics.inbox_pending.set(pending)
        metrics.runs_waiting.set(waiting)
    return Response(metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _database_problem(gateway: Gateway) -> str | None:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await gateway.db.read(lambda tx: tx.one(sa.text("SELECT 1")))
    except Exception as error:
        return f"the database is not responding ({type(error).__name__})"
    return None
