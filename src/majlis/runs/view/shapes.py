"""Runs, their journal and their contexts on the wire."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, cast

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.runs.view.lens import PromptBudgetJson
from majlis.spaces.shapes import SenderJson

RunStatus = Literal["queued", "running", "waiting_reply", "waiting_tool", "completed", "failed", "canceled"]
StepKind = Literal["model", "tool"]
StepState = Literal["started", "done", "error"]


# "from" is a keyword of Python.
_Awaited = TypedDict("_Awaited", {"from": NotRequired[list[str]]})


class WaitJson(_Awaited, TypedDict):
    """`from` has the ids of the members who can answer, if the wait names them, and `need` how many have to (W1)."""

    spaceId: str
    messageId: str
    startedAt: str
    timeoutSeconds: int
    fromNames: NotRequired[list[str]]
    need: NotRequired[int | Literal["all"]]
    # waiting_tool: the call that people are asked about.
    toolCallId: NotRequired[str]
    toolName: NotRequired[str]


_WAIT_KEYS = (*_Awaited.__annotations__, *WaitJson.__annotations__)


class TokensJson(TypedDict):
    inputTokens: int
    cachedTokens: int
    outputTokens: int


class StepUsageJson(TokensJson):
    # In USD, if the price was known.
    cost: NotRequired[float]


class UsageJson(TokensJson):
    requests: int


class AgentUsageJson(UsageJson):
    """Summed over all runs of one agent."""

    runs: int


class DayUsageJson(AgentUsageJson):
    """Summed over the runs that began on one day (UTC)."""

    day: str
    # In USD; None if no model that was used has a price.
    cost: float | None


class UsageRowJson(AgentUsageJson):
    """Summed over the runs with the same `key`: the id of an agent, space or person, a day, or a model."""

    # None for runs without a space or person.
    key: str | None
    name: str
    # In USD; None if no run has a known cost.
    cost: float | None
    # Runs that used tokens of models without a price. They are not in `cost`.
    unpricedRuns: int


class UsageReportJson(TypedDict):
    rows: list[UsageRowJson]
    currency: Literal["USD"]


class TriedCallJson(TypedDict):
    name: str
    # The text as the model wrote it if it is not JSON.
    input: Any


class TriedAnswerJson(TypedDict):
    """The answer of the model. No tool was called."""

    text: str
    calls: list[TriedCallJson]
    inputTokens: int
    cachedTokens: int
    outputTokens: int
    # In USD; null if the price is unknown.
    cost: float | None
    millis: int


class TryProblemJson(TypedDict):
    code: str
    message: str


class TryJson(TypedDict):
    """The first request of the run. `tokens` is an estimate; `notes` are for people."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    tokens: int
    notes: list[str]
    # Only with `ask`: the model's answer, or why there is none.
    answer: NotRequired[TriedAnswerJson]
    problem: NotRequired[TryProblemJson]


class RunErrorJson(TypedDict):
    code: str
    message: str


class UnsentJson(TypedDict):
    """An answer that the agent wrote but did not send. `messageId` is set once it is posted."""

    text: str
    messageId: str | None


class RunJson(TypedDict):
    id: str
    agentId: str
    agentName: str
    status: RunStatus
    reason: str | None
    trigger: TriggerJson
    activeSpaceId: str | None
    chainDepth: int
    # What its chain began with, and on whose behalf it acts (O3).
    causeId: str | None
    person: SenderJson | None
    wait: WaitJson | None
    usage: UsageJson
    # In USD; None if the price of its model is unknown.
    cost: float | None
    error: RunErrorJson | None
    notes: list[str]
    attempts: int
    createdAt: str
    startedAt: str | None
    endedAt: str | None
    # For the person who asked, when the run is read by its id.
    unsent: NotRequired[UnsentJson]


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
    usage: NotRequired[StepUsageJson]
    startedAt: str
    endedAt: str | None


class RequestJson(TypedDict):
    """What one model step was sent."""

    step: int
    messages: list[Any]
    tools: list[Any]


class ContextJson(TypedDict):
    """`budgets` has one for each request."""

    requests: list[RequestJson]
    budgets: list[PromptBudgetJson]


def run_json(row: sa.Row[Any]) -> RunJson:
    """From the columns of `runs` with `agent_name`, `person_name` and `person_type` beside them."""
    return {
        "id": row.id,
        "agentId": row.agent_id,
        "agentName": row.agent_name,
        "status": row.status,
        "reason": row.reason,
        "trigger": row.trigger,
        "activeSpaceId": row.active_space_id,
        "chainDepth": row.chain_depth,
        "causeId": row.cause_id,
        "person": _person(row),
        "wait": _wait(row),
        "usage": {
            "requests": row.requests,
            "inputTokens": row.input_tokens,
            "cachedTokens": row.cached_tokens,
            "outputTokens": row.output_tokens,
        },
        "cost": row.cost,
        "error": row.error,
        "notes": row.notes or [],
        "attempts": row.attempts,
        "createdAt": iso(row.created_at),
        "startedAt": _iso(row.started_at),
        "endedAt": _iso(row.ended_at),
    }


def _person(row: sa.Row[Any]) -> SenderJson | None:
    if row.person_id is None:
        return None
    return {"id": row.person_id, "name": row.person_name, "type": row.person_type}


def _wait(row: Any) -> WaitJson | None:
    """None once the wait is over, although the row keeps it."""
    if row.status not in ("waiting_reply", "waiting_tool"):
        return None
    return cast(WaitJson, {name: row.wait[name] for name in _WAIT_KEYS if name in row.wait})


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
