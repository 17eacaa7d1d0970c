"""Agents: their configs, memories, goals and plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Response

from majlis.agents import agents, goals, memories, plans
from majlis.agents.config.config import config_schema
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import AfterId, AgentChange, ListLimit, MemoryValue, NewAgent, PathId, Try, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.entities.caller import Caller
from majlis.inbox.correct import ClearedJson, clear_inbox, delete_kept, end_waits, write_memory
from majlis.inbox.pause import PausedJson, is_gateway_paused, pause_agent, pause_gateway
from majlis.runs.view.preview import preview_agent
from majlis.runs.view.shapes import TryJson
from majlis.store.transactions import T, Tx

router = new_router("agents")


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


@router.post("/api/agents/{agent_id}/pause", response_model=PausedJson, responses=refusals(404))
async def pause(entry: TheEntry, agent_id: PathId) -> Response:
    """Pauses the agent: its runs stop within a second and go back to the queue. For the owner and admins."""
    return reply(await entry.write(pause_agent, agent_id, True))


@router.delete("/api/agents/{agent_id}/pause", response_model=PausedJson, responses=refusals(404))
async def resume(entry: TheEntry, agent_id: PathId) -> Response:
    return reply(await entry.write(pause_agent, agent_id, False))


@router.get("/api/pause", response_model=PausedJson, responses=refusals())
async def get_pause(entry: TheEntry) -> Response:
    """Tells whether all agents of the gateway are paused."""
    return reply(await entry.read(is_gateway_paused))


@router.post("/api/pause", response_model=PausedJson, responses=refusals())
async def pause_all(entry: TheEntry) -> Response:
    """Pauses all agents of the gateway. For the owner and admins."""
    return reply(await entry.write(pause_gateway, True))


@router.delete("/api/pause", response_model=PausedJson, responses=refusals())
async def resume_all(entry: TheEntry) -> Response:
    """Ends the pause of the gateway. An agent or space that was paused by itself stays paused."""
    return reply(await entry.write(pause_gateway, False))


@router.post("/api/agents/{agent_id}/try", response_model=TryJson, responses=refusals(404, 409))
async def try_out(gateway: TheGateway, entry: TheEntry, agent_id: PathId, body: Try) -> Response:
    """The first request that the model would get if you sent this now, and with `ask` its answer. Nothing is stored or
    sent, and no tool is called. For the owner and admins."""
    caller = await entry.caller()
    return reply(await preview_agent(gateway.engine, caller, agent_id, body.text, body.space_id, body.config, body.ask))


@router.get("/api/agents/{agent_id}/versions", response_model=agents.AgentVersionsJson, responses=refusals(404))
async def list_versions(entry: TheEntry, agent_id: PathId) -> Response:
    """The last 50 configs, newest first. For the owner and admins."""
    return reply(await entry.read(agents.list_versions, agent_id))


@router.get("/api/agents/{agent_id}/memories", response_model=list[memories.MemoryJson], responses=refusals(404))
async def list_memories(entry: TheEntry, agent_id: PathId) -> Response:
    """The agent's memories, ordered by key."""
    return reply(await entry.read(_of_agent, agent_id, memories.list_memories))


@router.put("/api/agents/{agent_id}/memories/{key:path}", response_model=memories.MemoryJson, responses=refusals(404))
async def put_memory(entry: TheEntry, agent_id: PathId, key: str, body: MemoryValue) -> Response:
    """Corrects a memory. For the owner and admins."""
    return reply(await entry.write(write_memory, agent_id, key, body.value))


@router.delete("/api/agents/{agent_id}/memories/{key:path}", status_code=204, responses=refusals(404))
async def delete_memory(entry: TheEntry, agent_id: PathId, key: str) -> Response:
    await entry.write(delete_kept, agent_id, "memory", key)
    return nothing()


@router.delete("/api/agents/{agent_id}/goals/{goal_id:path}", status_code=204, responses=refusals(404))
async def delete_goal(entry: TheEntry, agent_id: PathId, goal_id: str) -> Response:
    await entry.write(delete_kept, agent_id, "goal", goal_id)
    return nothing()


@router.delete("/api/agents/{agent_id}/plans/{plan_id}", status_code=204, responses=refusals(404))
async def delete_plan(entry: TheEntry, agent_id: PathId, plan_id: str) -> Response:
    await entry.write(delete_kept, agent_id, "plan", plan_id)
    return nothing()


@router.delete("/api/agents/{agent_id}/waits", response_model=ClearedJson, responses=refusals(404))
async def delete_waits(entry: TheEntry, agent_id: PathId) -> Response:
    """Ends all waits of the agent for answers and cards, as if their time were over. For the owner and admins."""
    return reply(await entry.write(end_waits, agent_id))


@router.delete("/api/agents/{agent_id}/inbox", response_model=ClearedJson, responses=refusals(404))
async def delete_inbox(entry: TheEntry, agent_id: PathId) -> Response:
    """Ends the events that no run has taken yet as `passed`. For the owner and admins."""
    return reply(await entry.write(clear_inbox, agent_id))


@router.get("/api/agents/{agent_id}/goals", response_model=list[goals.GoalJson], responses=refusals(404))
async def list_goals(entry: TheEntry, agent_id: PathId) -> Response:
    """The goals of the agent, ordered by priority: active ones first, then completed ones."""
    return reply(await entry.read(_of_agent, agent_id, goals.list_goals))


@router.get("/api/agents/{agent_id}/plans", response_model=list[plans.PlanJson], responses=refusals(404))
async def list_plans(entry: TheEntry, agent_id: PathId) -> Response:
    """The plans of the agent: active ones first, then the most recently completed ones."""
    return reply(await entry.read(_of_agent, agent_id, plans.list_plans))


def _of_agent(tx: Tx, caller: Caller, agent_id: str, list_of: Callable[[Tx, str], T]) -> T:
    agents.access_agent(tx, caller, agent_id)
    return list_of(tx, agent_id)
