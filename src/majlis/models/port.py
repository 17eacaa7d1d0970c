"""What a model is to us: it is given a prompt and streams an answer. The loop around it is ours (`runs/`).

Everything here is plain data, so that a prompt can be stored as it was sent and a run can go on on another machine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from majlis.models.outline import Outline


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it; `schema` is the JSON Schema of its input."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it: `arguments` is JSON text, not yet believed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class System:
    text: str


@dataclass(frozen=True, slots=True)
class User:
    """Joined, the parts are the text. After each part but the last is a good place for a provider's cache point."""

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Said:
    """What the model answered to an earlier request of the same invocation."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to. Every call in a prompt has its result right after the `Said` that made it."""

    call_id: str
    name: str
    content: str


Turn = System | User | Said | Result


@dataclass(frozen=True, slots=True)
class Prompt:
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] = ()
    # A session that the other side keeps, to go on with (R7).
    session_id: str | None = None
    # What the turns show, for a model made of rules. Neither sent nor stored.
    outline: Callable[[], Outline] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `cached` is the part of `input` that the provider had in its cache."""

    input: int = 0
    cached: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer. `text` is the model's own thinking aloud and is shown to nobody."""

    text: str
    calls: tuple[Call, ...]
    usage: Usage
    # The session that the other side has put this into, if it says so (R7).
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The model has begun to write a call. `index` counts the calls of this answer from 0."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """More of the arguments' JSON text."""

    index: int
    arguments: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Always the last event."""

    answer: Answer


ModelEvent = CallStarted | CallDelta | Finished


class Model(Protocol):
    """One configured model. Safe for many requests at once; cancelling the consuming task aborts the request."""

    def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        """Raises ModelFailed, at any point."""
        ...

    async def close(self) -> None: ...


@dataclass(eq=False)
class ModelFailed(Exception):
    """A provider's refusal or failure, in words that a person can act on: no key, no address, no body of a request.

    `retryable`: the same request may succeed in a while (429, 5xx, time-out, broken stream). `usage` is what it has
    cost all the same, where the provider says so."""

    message: str
    retryable: bool
    code: str = "model_error"
    retry_after: float | None = field(default=None)
    usage: Usage = field(default_factory=Usage)

    def __str__(self) -> str:
        return self.message
