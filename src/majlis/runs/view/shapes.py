"""Runs, their journal and their contexts on the wire."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, cast

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.inbox.trigger import TriggerJson

RunStatus = Literal["queued", "running", "waiting_reply", "waiting_tool", "completed", "failed", "canceled"]
StepKind = Literal["model", "tool"]
StepState = Literal["started", "done", "error"]


class WaitJson(TypedDict):
    spaceId: str
    messageId: str
    startedAt: str
    timeoutSeconds: int
    # waiting_tool: the call that people are asked about.
    toolCallId: NotRequired[str]
    toolName: NotRequired[str]


class TokensJson(TypedDict):
    inputTokens: int
    cachedTokens: int
    outputTokens: int


class UsageJson(TokensJson):
    requests: int


class AgentUsageJson(UsageJson):
    """Of all runs of one agent."""

    runs: int


class DayUsageJson(AgentUsageJson):
    """Of the runs that began on one day (UTC)."""

    day: str
    # None if a model that was used has no price.
    cost: float | None


class TryJson(TypedDict):
    """The first request of the run. `tokens` is an estimate; `notes` are for people."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    tokens: int
    notes: list[str]


class RunErrorJson(TypedDict):
    code: str
    message: str


class RunJson(TypedDict):
    id: str
    agentId: str
    agentName: str
    status: RunStatus
    reason: str | None
    trigger: TriggerJson
    activeSpaceId: str | None
    chainDepth: int
    wait: WaitJson | None
    usage: UsageJson
    error: RunErrorJson | None
    notes: list[str]
    attempts: int
    createdAt: str
    startedAt: str | None
    endedAt: str | None


class RunPageJson(TypedDict):
    runs: list[RunJson]
    hasMore: bool


class StepJson(TypedDict):
    n: int
    kind: StepKind
    callId: NotRequired[str]
    name: NotRequired[str]
    state: StepState
    input: Any
    output: Any
    usage: NotRequired[TokensJson]
    startedAt: str
    endedAt: str | None


class RequestJson(TypedDict):
    """What one model step was sent."""

    step: int
    messages: list[Any]
    tools: list[Any]


class ContextJson(TypedDict):
    requests: list[RequestJson]


def run_json(row: sa.Row[Any]) -> RunJson:
    """From the columns of `runs` with the agent's `agent_name` beside them."""
    return {
        "id": row.id,
        "agentId": row.agent_id,
        "agentName": row.agent_name,
        "status": row.status,
        "reason": row.reason,
        "trigger": row.trigger,
        "activeSpaceId": row.active_space_id,
        "chainDepth": row.chain_depth,
        "wait": _wait(row),
        "usage": {
            "requests": row.requests,
            "inputTokens": row.input_tokens,
            "cachedTokens": row.cached_tokens,
            "outputTokens": row.output_tokens,
        },
        "error": row.error,
        "notes": row.notes or [],
        "attempts": row.attempts,
        "createdAt": iso(row.created_at),
        "startedAt": _iso(row.started_at),
        "endedAt": _iso(row.ended_at),
    }


def _wait(row: Any) -> WaitJson | None:
    """None once the wait is over, although the row keeps it."""
    if row.status not in ("waiting_reply", "waiting_tool"):
        return None
    return cast(WaitJson, {name: row.wait[name] for name in WaitJson.__annotations__ if name in row.wait})


def step_json(row: sa.Row[Any]) -> StepJson:
    step: StepJson = {
        "n": row.n,
        "kind": row.kind,
        "state": row.state,
        "input": row.input,
        "output": row.output,
        "startedAt": iso(row.started_at),
        "endedAt": _iso(row.ended_at),
    }
    more = {"callId": row.call_id, "name": row.name, "usage": row.usage}
    return cast(StepJson, {**step, **{name: value for name, value in more.items() if value is not None}})


def _iso(at: int | None) -> str | None:
    return None if at is None else iso(at)
