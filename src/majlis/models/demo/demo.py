"""A model made of rules. What it does next depends only on the prompt, so a run can continue on another worker."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from majlis.models.demo.decide import steps_for
from majlis.models.demo.say import Step, say
from majlis.models.outline import Outline, Seen
from majlis.models.port import (
    Answer,
    Call,
    CallDelta,
    CallStarted,
    Finished,
    ModelEvent,
    Prompt,
    Result,
    Said,
    Turn,
    Usage,
)
from majlis.store import ids

_WORDS = re.compile(r"\S+\s*")
# If one of these fails, the agent says so instead of confirming it.
_CONFIRMED = ("set_plans", "set_memories")


class DemoModel:
    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        step = _next_step(prompt)
        if step is None:
            yield Finished(Answer("Nothing to do.", (), Usage()))
            return
        call = Call(ids.new("stp"), step.tool, orjson.dumps(step.input).decode())
        yield CallStarted(0, call.id, call.name)
        for piece in _WORDS.findall(call.arguments):
            # Other tasks run between two words, as with a model that needs time for each.
            await asyncio.sleep(0)
            yield CallDelta(0, piece)
        yield Finished(Answer("", (call,), Usage()))


def _next_step(prompt: Prompt) -> Step | None:
    """Works out all steps and returns the first that was not taken yet."""
    if prompt.outline is None:
        return None
    outline = prompt.outline()
    steps = _all_steps(prompt, outline)
    calls, result = _this_invocation(prompt.turns)
    done = outline.calls_made + len(calls)
    if _failed(result):
        seen = steps[done - 1][0] if 0 < done <= len(steps) else None
        if seen is None or seen.active is None or calls[-1] not in _CONFIRMED:
            return None
        return say(seen, f"Sorry, that did not work: {calls[-1]} was refused.")
    return steps[done][1] if done < len(steps) else None


def _all_steps(prompt: Prompt, outline: Outline) -> list[tuple[Seen, Step]]:
    """In a cycle the agent enters the space of each event that it answers."""
    tools = {spec.name: frozenset(spec.schema.get("properties", {})) for spec in prompt.tools}
    here = outline.active_space_id
    steps: list[tuple[Seen, Step]] = []
    for event in outline.events:
        seen = replace(event, can_say=tools.get("send_message", frozenset()), tools=frozenset(tools))
        found = steps_for(seen)
        if found and seen.active is not None and seen.active.id != here:
            found = [Step("enter_space", {"spaceId": seen.active.id}), *found]
        for step in found:
            here = step.input["spaceId"] if step.tool == "enter_space" else here
            steps.append((seen, step))
    return steps


def _this_invocation(turns: Sequence[Turn]) -> tuple[list[str], Any]:
    """The names of the calls made since the prompt was built, and the result of the last one.

    Turns of earlier cycles, and earlier messages in the roles mind, end with text that has no calls."""
    calls: list[str] = []
    results: list[str] = []
    for turn in reversed(turns):
        if isinstance(turn, Result):
            results.append(turn.content)
        elif isinstance(turn, Said):
            if not turn.calls:
                break
            calls[:0] = [call.name for call in turn.calls]
    return calls, _json(results[0]) if calls and results else None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _failed(result: Any) -> bool:
    return isinstance(result, dict) and (result.get("success") is False or "error" in result)
