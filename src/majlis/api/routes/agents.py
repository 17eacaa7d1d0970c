"""Agents: made, listed and changed by administrators; the config is validated whole."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from majlis.agents.agents import AgentJson, change_agent, create_agent, delete_agent, get_agent, list_agents
from majlis.agents.config.config import config_schema
from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import AgentChange, IdText, NewAgent, PathId
from majlis.api.error_responses import refusals
from majlis.api.reply import nothing, reply

router = APIRouter(tags=["agents"])


@router.post("/api/agents", status_code=201, response_model=AgentJson, responses=refusals(409))
async def create(gateway: TheGateway, entry: TheEntry, body: NewAgent) -> Response:
    return reply(await create_agent(gateway.db, await entry.caller(), body.name, body.config), 201)


@router.get("/api/agents", response_model=list[AgentJson], responses=refusals())
async def list_all(
    entry: TheEntry,
    after: Annotated[IdText | None, Query(description="The last id of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Response:
    return reply(await entry.read(list_agents, after, limit))


@router.get("/api/agents/config-schema", response_model=dict[str, Any], responses=refusals())
async def get_config_schema(entry: TheEntry) -> Response:
    """The JSON Schema of an agent's config, for editors."""
    await entry.caller()
    return reply(config_schema())


@router.get("/api/agents/{agent_id}", response_model=AgentJson, responses=refusals(404))
async def get_one(entry: TheEntry, agent_id: PathId) -> Response:
    return reply(await entry.read(get_agent, agent_id))


@router.patch("/api/agents/{agent_id}", response_model=AgentJson, responses=refusals(404, 409))
async def change(gateway: TheGateway, entry: TheEntry, agent_id: PathId, body: AgentChange) -> Response:
    given = body.changes()
    return reply(await change_agent(gateway.db, await entry.caller(), agent_id, given.get("name"), given.get("config")))


@router.delete("/api/agents/{agent_id}", status_code=204, responses=refusals(404, 409))
async def delete(entry: TheEntry, agent_id: PathId) -> Response:
    await entry.write(delete_agent, agent_id)
    return nothing()
