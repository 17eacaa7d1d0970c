"""The port to model providers: a prompt goes in, a stream of events comes out. Tools are called by `runs/`.

Everything here is plain data, so that a prompt can be stored as it was sent and a run can continue on another machine.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import orjson

from majlis.models.demo.outline import Outline

# In characters, more than what marks a turn or a call for the model.
_AROUND = 32
# Deeper input and results are refused.
MAX_DEPTH = 50
# Where the size of a request comes from (F1): the agent's config, the model's server, the table of known models, the
# default, or the refusal of a longer request.
SizeSource = Literal["config", "server", "known", "default", "learned"]


class Context(NamedTuple):
    """How many tokens a request may have. None: any number."""

    tokens: int | None
    source: SizeSource | None


@dataclass(slots=True)
class KnownContext:
    """A context as it is known now, until a time in milliseconds. It changes when the model's server says otherwise."""

    context: Context
    until: float = math.inf


# The demo model reads no tokens.
UNLIMITED = Context(None, None)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """`schema` is the JSON Schema of the input."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it: `arguments` is JSON text that is not validated yet."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class System:
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A file that the model is shown (L5). Only a request has its content."""

    file_id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class User:
    """The text in parts. A provider's cache point fits after each part except the last. Pictures follow the text."""

    parts: tuple[str, ...]
    pictures: tuple[Picture, ...] = ()

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Said:
    """An earlier answer of the model."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call. It follows right after the `Said` with the call."""

    call_id: str
    name: str
    content: str


Turn = System | User | Said | Result


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to wait until an answer begins, and for each further part. None: as usual for this model."""

    first_byte: float | None = None
    idle: float | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] = ()
    # The external session to continue (R7).
    session_id: str | None = None
    # The content of the turns, for a model made of rules. Neither sent nor stored.
    outline: Callable[[], Outline] | None = None
    patience: Patience = Patience()
    # JPEG data of its pictures, by file id. Not stored.
    content: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `cached` is part of `input`."""

    input: int = 0
    cached: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is shown to members only if the agent speaks by text (E10)."""

    text: str
    calls: tuple[Call, ...]
    usage: Usage
    # The external session that the server put this into, if it says so (R7).
    session_id: str | None = None
    # The model that answered, if the server says so.
    model: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """`index` counts the calls of this answer from 0."""

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


ModelEvent = TextDelta | CallStarted | CallDelta | Finished


class Model(Protocol):
    """One configured model. Safe for many requests at once; cancelling the consuming task aborts the request."""

    def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        """Raises ModelFailed, at any point."""
        ...


async def final_answer(model: Model, prompt: Prompt) -> Answer:
    """For callers that show nothing before the answer is whole. Raises ModelFailed."""
    async with aclosing(model.stream(prompt)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return event.answer
    raise AssertionError("a stream ends with Finished or raises")


@dataclass(eq=False)
class ModelFailed(Exception):
    """A provider's refusal or failure. The message contains no key, no address and nothing of the request.

    `retryable`: the same request may succeed later (429, 5xx, timeout, broken stream). `usage` is what the provider
    billed all the same. `slow`: it took so long that it is not retried within the run."""

    message: str
    retryable: bool
    code: str = "model_error"
    retry_after: float | None = field(default=None)
    usage: Usage = field(default_factory=Usage)
    slow: bool = False
    detail: str = ""
    """The server's own words, for admins only (G6)."""

    def __str__(self) -> str:
        return self.message


def surely_fits(turns: Iterable[Turn], room: int) -> bool:
    """True without an estimate, which costs time: by the weights of `tokens.py`, no text has more than 1.6 tokens a
    character."""
    return 8 * sum(_length(turn) for turn in turns) <= 5 * room


def _length(turn: Turn) -> int:
    match turn:
        case User():
            return _AROUND + len(turn.text) + sum(each.tokens for each in turn.pictures)
        case System():
            return _AROUND + len(turn.text)
        case Said():
            calls = sum(_AROUND + len(call.name) + len(call.arguments) for call in turn.calls)
            return _AROUND + len(turn.text) + calls
        case Result():
            return _AROUND + len(turn.content)


def is_json(arguments: str) -> bool:
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return False
    return True


def plain_text(pieces: Iterable[str]) -> str:
    """The text without NUL, which PostgreSQL cannot store."""
    return "".join(pieces).replace("\0", "\ufffd")


def word(given: Any) -> str:
    """One line of text. Raises TypeError for anything but text, a whole number or None."""
    if isinstance(given, str):
        return given if given.isprintable() else "".join(each for each in given if each.isprintable())
    if given is None:
        return ""
    if isinstance(given, int):
        return str(given)
    raise TypeError(type(given))


def read_input(call: Call) -> dict[str, Any] | None:
    """The call's arguments; None unless they are a JSON object of bounded depth."""
    try:
        given = orjson.loads(call.arguments or "{}")
    except orjson.JSONDecodeError:
        return None
    return given if isinstance(given, dict) and not is_too_deep(given) else None


def is_too_deep(value: Any, room: int = MAX_DEPTH) -> bool:
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return room == 0 or any(is_too_deep(child, room - 1) for child in children)
