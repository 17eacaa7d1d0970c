"""Runs: their status, steps, context and usage, and answers to their cards."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Literal

from fastapi import Query, Response

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import IdText, PageLimit, PathId, ToolResult, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.cards.answer import submit_tool_result
from majlis.cards.queries import PendingToolCallJson, list_pending
from majlis.runs.end.cancel import ENDED, STOP_MILLIS, ask_to_stop, cancel_run
from majlis.runs.end.unsent import get_run_with_unsent, post_unsent
from majlis.runs.view.failures import FailureJson, list_failures
from majlis.runs.view.open_waits import OpenWaitsJson, list_waits
from majlis.runs.view.queries import get_context, list_runs, list_steps
from majlis.runs.view.shapes import AgentUsageJson, ContextJson, DayUsageJson, RunJson, RunPageJson, RunStatus, StepJson
from majlis.runs.view.usage import get_usage, list_usage_by_day
from majlis.spaces.shapes import MessageJson

router = new_router("runs")


@router.get("/api/runs", response_model=RunPageJson, responses=refusals(404))
async def list_mine(
    entry: TheEntry,
    agent_id: Annotated[IdText | None, Query(alias="agentId")] = None,
    space_id: Annotated[IdText | None, Query(alias="spaceId", description="The space that triggered the run.")] = None,
    status: RunStatus | None = None,
    limit: PageLimit = 50,
    before: Annotated[IdText | None, Query(description="The last run of the previous page.")] = None,
) -> Response:
    """The runs you may see, newest first: those triggered in your spaces, and an agent's own."""
    return reply(await entry.read(list_runs, agent_id, space_id, status, limit, before))


@router.get("/api/runs/{run_id}", response_model=RunJson, responses=refusals(404))
async def get_one(entry: TheEntry, run_id: PathId) -> Response:
    """The state, trigger and usage of a run. It has `unsent`, for the person who asked, if the agent wrote an answer
    but did not send it."""
    return reply(await entry.read(get_run_with_unsent, run_id))


@router.get("/api/runs/{run_id}/steps", response_model=list[StepJson], responses=refusals(404))
async def list_steps_of(entry: TheEntry, run_id: PathId) -> Response:
    """The model steps and tool calls. Members see `{"hidden": …}` for what is private or belongs to other spaces."""
    return reply(await entry.snapshot(list_steps, run_id))


@router.get("/api/runs/{run_id}/context", response_model=ContextJson, responses=refusals(404))
async def get_context_of(entry: TheEntry, run_id: PathId) -> Response:
    """The requests exactly as sent to the model, and how each used its budget of tokens: what each block took, what was
    left out and why, what was cached. For the agent itself and admins."""
    return reply(await entry.snapshot(get_context, run_id))


@router.post("/api/runs/{run_id}/cancel", response_model=RunJson, responses=refusals(404, 409))
async def cancel(entry: TheEntry, gateway: TheGateway, run_id: PathId) -> Response:
    """Cancel the run. What its agent was writing stays, with `stoppedBy`, if a person cancels it. It posts nothing
    after this."""
    ended = asyncio.Event()

    def hear(payload: bytes) -> None:
        if payload.decode() == run_id:
            ended.set()

    forget = gateway.bus.subscribe(ENDED, hear)
    try:
        asked = await entry.write(ask_to_stop, run_id)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_MILLIS / 1000 if asked else 0):
                await ended.wait()
    finally:
        forget()
    return reply(await entry.write(cancel_run, run_id, asked))


@router.post("/api/runs/{run_id}/unsent/post", response_model=MessageJson, responses=refusals(403, 404, 409))
async def post_unsent_of(entry: TheEntry, run_id: PathId) -> Response:
    """Post the answer that the agent wrote but did not send, as its message. For the person who asked; posting twice
    returns the same message. 409: there is none."""
    return reply(await entry.write(post_unsent, run_id))


@router.post("/api/runs/{run_id}/tool-results", response_model=MessageJson, responses=refusals(404, 409))
async def submit_result(entry: TheEntry, run_id: PathId, body: ToolResult) -> Response:
    """Answer a card, or approve a call. The first answer counts. 409: the card is answered, withdrawn or expired. 422:
    the result does not match the schema, and the card stays open."""
    return reply(await entry.write(submit_tool_result, run_id, body.tool_call_id, body.result, body.decline))


@router.get("/api/failures", response_model=list[FailureJson], responses=refusals())
async def list_failed(entry: TheEntry) -> Response:
    """The runs of the last day that failed, in any space, newest first, without messages. For admins."""
    return reply(await entry.read(list_failures))


@router.get("/api/tool-calls", response_model=list[PendingToolCallJson], responses=refusals(404))
async def list_pending_calls(
    entry: TheEntry, space_id: Annotated[IdText | None, Query(alias="spaceId")] = None
) -> Response:
    """Open cards in your spaces, oldest first."""
    return reply(await entry.read(list_pending, space_id))


@router.get("/api/waits", response_model=OpenWaitsJson, responses=refusals(404))
async def list_open_waits(
    entry: TheEntry,
    for_: Annotated[
        Literal["me"] | None, Query(alias="for", description="`me`: only those that you can answer.")
    ] = None,
    space_id: Annotated[IdText | None, Query(alias="spaceId")] = None,
) -> Response:
    """Open questions of agents and open cards in your spaces, oldest first: who waits, for whom, until when, and what
    has been answered so far."""
    return reply(await entry.snapshot(list_waits, for_ == "me", space_id))


@router.get("/api/agents/{agent_id}/usage", response_model=AgentUsageJson, responses=refusals(404))
async def get_usage_of(entry: TheEntry, agent_id: PathId) -> Response:
    """The total usage of the agent's runs. For the agent itself and admins."""
    return reply(await entry.read(get_usage, agent_id))


@router.get("/api/agents/{agent_id}/usage/days", response_model=list[DayUsageJson], responses=refusals(404))
async def list_usage_by_day_of(
    entry: TheEntry, agent_id: PathId, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> Response:
    """Usage per day (UTC), oldest first, without days that had no runs. `cost` is in USD, or null if no model that was
    used has a known price."""
    return reply(await entry.read(list_usage_by_day, agent_id, days))
