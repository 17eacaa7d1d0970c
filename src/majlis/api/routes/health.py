"""Health checks and metrics."""

from __future__ import annotations

import asyncio
import contextlib
import time
from ipaddress import ip_address
from typing import Literal
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from fastapi import Request, Response
from typing_extensions import TypedDict

from majlis import __version__, metrics
from majlis.api.auth import TheGateway, enter
from majlis.api.bodies import reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.errors import Forbidden, Unavailable
from majlis.gateway import Gateway
from majlis.runs.claim.poll import count_open
from majlis.store.passing_faults import is_full, probe_write

router = new_router("health")
_TIMEOUT_SECONDS = 3
_PROBE_SECONDS = 5.0
_WRITTEN_AT: WeakKeyDictionary[Gateway, float] = WeakKeyDictionary()


class DegradedJson(TypedDict):
    part: Literal["bus"]
    reason: str


class HealthJson(TypedDict):
    """`degraded` lists the parts that are down while the gateway still does its work."""

    status: Literal["ok", "degraded"]
    version: str
    database: str
    bus: str
    degraded: list[DegradedJson]


class ProbeJson(TypedDict):
    status: Literal["ok"]


@router.get("/api/health", response_model=HealthJson, responses=refusals())
async def get_health(gateway: TheGateway) -> Response:
    """503 only if the gateway cannot work. Without NATS it works by polling, so it is degraded."""
    await _require_database(gateway)
    await _require_writes(gateway)
    problem = gateway.bus.problem()
    degraded: list[DegradedJson] = [{"part": "bus", "reason": problem}] if problem is not None else []
    health: HealthJson = {
        "status": "degraded" if degraded else "ok",
        "version": __version__,
        "database": gateway.db.dialect,
        "bus": gateway.bus.kind,
        "degraded": degraded,
    }
    return reply(health)


@router.get("/api/health/live", response_model=ProbeJson, responses=refusals())
async def get_live() -> Response:
    """The process answers. If this fails, restart it."""
    return reply({"status": "ok"})


@router.get("/api/health/ready", response_model=ProbeJson, responses=refusals())
async def get_ready(gateway: TheGateway) -> Response:
    """The gateway can take requests. While this fails, send them to another node."""
    await _require_database(gateway)
    await _require_writes(gateway)
    return reply({"status": "ok"})


@router.get("/metrics", response_class=Response, include_in_schema=False)
async def get_metrics(gateway: TheGateway, request: Request) -> Response:
    if not (gateway.settings.metrics_open or _is_local(request)):
        await _require_metrics_reader(request)
    with contextlib.suppress(Exception):
        # These two are counted on request. If the database is down, /api/health reports it.
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            pending, waiting = await gateway.db.read(count_open)
        metrics.inbox_pending.set(pending)
        metrics.runs_waiting.set(waiting)
    return Response(metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _require_writes(gateway: Gateway) -> None:
    """Reads work while the disk is full, so this writes. A write that succeeded counts for a few seconds."""
    if time.monotonic() - _WRITTEN_AT.get(gateway, -_PROBE_SECONDS) < _PROBE_SECONDS:
        return
    problem = await _try_to_write(gateway)
    if problem is not None:
        raise Unavailable("unhealthy", f"Majlis is not healthy: the database cannot be written ({problem}).")
    _WRITTEN_AT[gateway] = time.monotonic()


async def _try_to_write(gateway: Gateway) -> str | None:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await gateway.db.write(probe_write)
    except Exception as error:
        return "the disk is full" if is_full(error) else type(getattr(error, "orig", None) or error).__name__
    return None


def _is_local(request: Request) -> bool:
    """A request that a proxy on this machine passed on is not local."""
    forwarded = {"x-forwarded-for", "x-real-ip", "forwarded", "via"} & set(request.headers)
    return not forwarded and request.client is not None and ip_address(request.client.host).is_loopback


async def _require_metrics_reader(request: Request) -> None:
    caller = await (await enter(request)).caller()
    if not caller.administers and caller.type != "service":
        raise Forbidden("not_allowed", "Metrics are for admins and services of this gateway.")


async def _require_database(gateway: Gateway) -> None:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await gateway.db.read(lambda tx: tx.one(sa.text("SELECT 1")))
    except Exception as error:
        problem = f"Majlis is not healthy: the database is not responding ({type(error).__name__})."
        raise Unavailable("unhealthy", problem) from None
