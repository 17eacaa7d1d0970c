"""Runs as the engine stores them, inserted straight into the database."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import orjson

from majlis import clock
from majlis.store import ids
from majlis.store.tables import cycles, deliveries, runs, steps, views
from majlis.store.transactions import Tx
from tests.world import Person, World


async def add_run(world: World, agent: Person, message: Any = None, **columns: Any) -> str:
    """Triggered by this message, or by a service if there is none."""
    return await world.gateway.db.write(_add_run, agent, message, columns)


async def add_steps(world: World, run_id: str, *journal: dict[str, Any]) -> None:
    """Tool steps that are done by default."""
    filled = {"kind": "tool", "state": "done", "started_at": clock.now(), "ended_at": clock.now()}
    empty = {"call_id": None, "name": None, "input": None, "output": None, "usage": None}
    rows = [{**empty, **filled, "run_id": run_id, "n": n, **step} for n, step in enumerate(journal, 1)]
    await world.gateway.db.write(lambda tx: tx.execute(steps.insert(), rows))


async def add_view(
    world: World, run_id: str, step: int, base: int | None, messages: Sequence[Any], tools: Any = None
) -> None:
    body = zlib.compress(orjson.dumps({"base": base, "messages": messages, "tools": tools}))
    row = {"run_id": run_id, "step": step, "body": body, "created_at": clock.now()}
    await world.gateway.db.write(lambda tx: tx.execute(views.insert(), row))


async def add_delivery(world: World, agent: Person, event_id: str, **columns: Any) -> str:
    row: dict[str, Any] = {
        "id": ids.new("dlv"),
        "agent_id": agent.id,
        "event_id": event_id,
        "type": "service",
        "payload": {},
    }
    row |= {"created_at": clock.now(), **columns}
    await world.gateway.db.write(lambda tx: tx.execute(deliveries.insert(), row))
    return str(row["id"])


async def add_cycle(world: World, agent: Person, n: int, run_id: str, summary: str | None = None) -> None:
    row: dict[str, Any] = {
        "agent_id": agent.id,
        "n": n,
        "run_id": run_id,
        "messages": [{"role": "user", "content": f"cycle {n}"}],
    }
    row |= {"summary": summary, "tokens": 7, "created_at": clock.now()}
    await world.gateway.db.write(lambda tx: tx.execute(cycles.insert(), row))


def _add_run(tx: Tx, agent: Person, message: Any, columns: dict[str, Any]) -> str:
    row: dict[str, Any] = {"id": ids.new("run"), "agent_id": agent.id, "status": "completed", "created_at": tx.now}
    row["trigger"] = _trigger(message)
    row["trigger_space_id"] = row["active_space_id"] = message["spaceId"] if message else None
    row |= columns
    row.setdefault("ended_at", tx.now if row["status"] in ("completed", "failed", "canceled") else None)
    tx.execute(runs.insert(), row)
    return str(row["id"])


def _trigger(message: Any) -> dict[str, Any]:
    if message is None:
        return {"type": "service", "chainDepth": 0, "serviceName": "Shop", "payload": {"order": 7}, "eventId": "o-7"}
    return {
        "type": "space_message",
        "chainDepth": 0,
        "spaceId": message["spaceId"],
        "spaceName": "Project Alpha",
        "messageId": message["id"],
        "senderId": message["sender"]["id"],
        "senderName": message["sender"]["name"],
        "senderType": message["sender"]["type"],
        "text": message["text"],
        "timestamp": message["createdAt"],
        "senderExpectsReply": False,
    }
