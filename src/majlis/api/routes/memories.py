"""What an agent keeps, for its administrators and itself to look at; it is changed with the agent's own tools."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Response

from majlis.agents import goals, memories, plans
from majlis.agents.agents import access_agent
from majlis.agents.goals import GoalJson
from majlis.agents.memories import MemoryJson
from majlis.agents.plans import PlanJson
from majlis.api.auth import TheEntry
from majlis.api.bodies import PathId
from majlis.api.error_responses import refusals
from majlis.api.reply import reply
from majlis.entities.caller import Caller
from majlis.store.transactions import T, Tx

router = APIRouter(tags=["agents"])


@router.get("/api/agents/{agent_id}/memories", response_model=list[MemoryJson], responses=refusals(404))
async def list_memories(entry: TheEntry, agent_id: PathId) -> Response:
    """Everything the agent remembers, by key."""
    return reply(await entry.read(_of_agent, agent_id, memories.list_memories))


@router.get("/api/agents/{agent_id}/goals", response_model=list[GoalJson], responses=refusals(404))
async def list_goals(entry: TheEntry, agent_id: PathId) -> Response:
    """Active goals first, then completed ones; by priority."""
    return reply(await entry.read(_of_agent, agent_id, goals.list_goals))


@router.get("/api/agents/{agent_id}/plans", response_model=list[PlanJson], responses=refusals(404))
async def list_plans(entry: TheEntry, agent_id: PathId) -> Response:
    """Active plans first, then the latest of those that have fired for the last time."""
    return reply(await entry.read(_of_agent, agent_id, plans.list_plans))


def _of_agent(tx: Tx, caller: Caller, agent_id: str, listed: Callable[[Tx, str], T]) -> T:
    access_agent(tx, caller, agent_id)
    return listed(tx, agent_id)
