"""Small prompts, and functions to send them to a model."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from majlis.models.port import (
    Answer,
    Call,
    CallDelta,
    CallStarted,
    Finished,
    Model,
    ModelEvent,
    Prompt,
    Result,
    Said,
    System,
    ToolSpec,
    User,
)

SEND = ToolSpec(
    "send_message",
    "Say something.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
PROMPT = Prompt((System("Be brief."), User(("one ", "two ", "three"))), (SEND,))
SECOND = Prompt(
    (
        *PROMPT.turns,
        Said("Hm.", (Call("call_a", "send_message", '{"text": "x"}'),)),
        Result("call_a", "send_message", "{}"),
    ),
    (SEND,),
)


async def ask(model: Model, prompt: Prompt = PROMPT) -> list[ModelEvent]:
    async with aclosing(model.stream(prompt)) as stream:
        return [event async for event in stream]


async def answer(model: Model, prompt: Prompt = PROMPT) -> Answer:
    events = await ask(model, prompt)
    last = events[-1]
    assert isinstance(last, Finished)
    assert streamed(events) == [(call.name, call.arguments) for call in last.answer.calls if call.arguments != "{}"]
    return last.answer


def streamed(events: list[ModelEvent]) -> list[tuple[str, str]]:
    """The calls, assembled from the deltas only."""
    names = {event.index: event.name for event in events if isinstance(event, CallStarted)}
    texts = dict.fromkeys(names, "")
    for event in events:
        if isinstance(event, CallDelta):
            texts[event.index] += event.arguments
    return [(names[index], texts[index]) for index in names if texts[index] not in ("", "{}")]


def chat_choice(base_url: str, **more: Any) -> dict[str, Any]:
    return {"provider": "openai", "name": "scripted", "baseUrl": base_url, **more}
