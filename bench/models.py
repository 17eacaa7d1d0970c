"""Models in this process that answer at once, so that what is measured is everything around a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import orjson

from majlis.agents.config.model import ModelChoice
from majlis.models.port import (
    UNLIMITED,
    Answer,
    Call,
    CallDelta,
    CallStarted,
    Finished,
    KnownContext,
    Model,
    ModelEvent,
    Prompt,
    Result,
    Usage,
)

TEXT = "I have looked at it: the figures agree with last week's, and I will tell you when they change."
_ARGUMENTS = orjson.dumps({"text": TEXT}).decode()
_USAGE = Usage(1000, 900, 30)
_DONE = Finished(Answer("", (), _USAGE))

Heard = Callable[[Prompt], None]


class SilentModel:
    """Reports that it was asked, and returns an empty answer: one request for each run."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        self._heard(prompt)
        yield _DONE


class TalkingModel:
    """Says one sentence and, once that was sent, nothing more: two requests for each run."""

    def __init__(self, heard: Heard | None = None) -> None:
        self._heard = heard
        self._calls = 0

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        if self._heard is not None:
            self._heard(prompt)
        if isinstance(prompt.turns[-1], Result):
            yield _DONE
            return
        self._calls += 1
        call = Call(f"call_{self._calls}", "send_message", _ARGUMENTS)
        yield CallStarted(0, call.id, call.name)
        yield CallDelta(0, call.arguments)
        yield Finished(Answer("", (call,), _USAGE))


class OneModel:
    """Every agent gets this model, whatever its config says."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def get(self, choice: ModelChoice) -> Model:
        return self._model

    async def context(self, choice: ModelChoice) -> KnownContext:
        return KnownContext(UNLIMITED)
