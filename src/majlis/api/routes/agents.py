"""Agents: their configs, memories, goals and plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Response

from majlis.agents import agents, goals, memories, plans
from majlis.agents.config.config import config_schema
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import AfterId, AgentChange, ListLimit, NewAgent, PathId, Try, nothing, reply
from majlis.api.error_responses import refusals
from majlis.entities.caller import Caller
from majlis.runs.view.preview import preview_agent
from majlis.runs.view.shapes import TryJson
from majlis.store.transactions import T, Tx

router = APIRouter(tags=["agents"])


@router.post("/api/agents", status_code=201, response_model=agents.AgentJson, responses=refusals(409))
async def create(gateway: TheGateway, entry: TheEntry, body: NewAgent) -> Response:
    return reply(await agents.create_agent(gateway.db, await entry.caller(), body.name, body.config), 201)


@router.get("/api/agents", response_model=list[agents.AgentJson], responses=refusals())
async def list_all(entry: TheEntry, after: AfterId = None, limit: ListLimit = 1000) -> Response:
    return reply(await entry.read(agents.list_agents, after, limit))


@router.get("/api/agents/config-schema", response_model=dict[str, Any], responses=refusals())
async def get_config_schema(entry: TheEntry) -> Response:
    """The JSON Schema of an agent's config, for editors."""
    await entry.caller()
    return reply(config_schema())


@router.get("/api/agents/{agent_id}", response_model=agents.AgentJson, responses=refusals(404))
async def get_one(entry: TheEntry, agent_id: PathId) -> Response:
    return reply(await entry.read(agents.get_agent, agent_id))


@router.patch("/api/agents/{agent_id}", response_model=agents.AgentJson, responses=refusals(404, 409))
async def change(gateway: TheGateway, entry: TheEntry, agent_id: PathId, body: AgentChange) -> Response:
    changes = body.changes()
    caller = await entry.caller()
    return reply(await agents.change_agent(gateway.db, caller, agent_id, changes.get("name"), changes.get("config")))


@router.delete("/api/agents/{agent_id}", status_code=204, responses=refusals(404, 409))
async def delete(entry: TheEntry, agent_id: PathId) -> Response:
    await entry.write(agents.delete_agent, agent_id)
    return nothing()


@router.post("/api/agents/{agent_id}/try", response_model=TryJson, responses=refusals(404, 409))
async def try_out(gateway: TheGateway, entry: TheEntry, agent_id: PathId, body: Try) -> Response:
    """The first request that the model would get if you sent this now. No model is called, and nothing is stored or
    sent. For the owner and admins."""
    caller = await entry.caller()
    return reply(await preview_agent(gateway.engine, caller, agent_id, body.text, body.space_id, body.config))


@router.get("/api/agents/{agent_id}/memories", response_model=list[memories.MemoryJson], responses=refusals(404))
async def list_memories(entry: TheEntry, agent_id: PathId) -> Response:
    """The agent's memories, ordered by key."""
    return reply(await entry.read(_of_agent, agent_id, memories.list_memories))


@router.get("/api/agents/{agent_id}/goals", response_model=list[goals.GoalJson], responses=refusals(404))
async def list_goals(entry: TheEntry, agent_id: PathId) -> Response:
    """Active goals first, then completed ones; ordered by priority."""
    return reply(await entry.read(_of_agent, agent_id, goals.list_goals))


@router.get("/api/agents/{agent_id}/plans", response_model=list[plans.PlanJson], responses=refusals(404))
async def list_plans(entry: TheEntry, agent_id: PathId) -> Response:
    """Active plans first, then the most recently completed ones."""
    return reply(await entry.read(_of_agent, agent_id, plans.list_plans))


def _of_agent(tx: Tx, caller: Caller, agent_id: str, list_of: Callable[[Tx, str], T]) -> T:
    agents.access_agent(tx, caller, agent_id)
    return list_of(tx, agent_id)
