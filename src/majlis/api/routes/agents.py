"""Agents: made, listed and changed by administrators; the config is validated whole."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from majlis.agents.agents import AgentJson, change_agent, create_agent, delete_agent, get_agent, list_agents
from majlis.agents.config import config_schema
from majlis.api.auth import TheCaller, TheGateway
from majlis.api.bodies import AgentChange, IdText, NewAgent, PathId
from majlis.api.errors import refusals
from majlis.api.reply import nothing, reply

router = APIRouter(tags=["agents"])


@router.post("/api/agents", status_code=201, response_model=AgentJson, responses=refusals(409))
async def create(gateway: TheGateway, caller: TheCaller, body: NewAgent) -> Response:
    return reply(await create_agent(gateway.db, caller, body.name, body.config), 201)


@router.get("/api/agents", response_model=list[AgentJson], responses=refusals())
async def list_all(
    gateway: TheGateway,
    caller: TheCaller,
    after: Annotated[IdText | None, Query(description="The last id of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Response:
    return reply(await gateway.db.read(list_agents, caller, after, limit))


@router.get("/api/agents/config-schema", response_model=dict[str, Any], responses=refusals())
async def get_config_schema(caller: TheCaller) -> Response:
    """The JSON Schema of an agent's config, for editors."""
    return reply(config_schema())


@router.get("/api/agents/{agent_id}", response_model=AgentJson, responses=refusals(404))
async def get_one(gateway: TheGateway, caller: TheCaller, agent_id: PathId) -> Response:
    return reply(await gateway.db.read(get_agent, caller, agent_id))


@router.patch("/api/agents/{agent_id}", response_model=AgentJson, responses=refusals(404, 409))
async def change(gateway: TheGateway, caller: TheCaller, agent_id: PathId, body: AgentChange) -> Response:
    given = body.changes()
    return reply(await change_agent(gateway.db, caller, agent_id, given.get("name"), given.get("config")))


@router.delete("/api/agents/{agent_id}", status_code=204, responses=refusals(404, 409))
async def delete(gateway: TheGateway, caller: TheCaller, agent_id: PathId) -> Response:
    await gateway.db.write(delete_agent, caller, agent_id)
    return nothing()
