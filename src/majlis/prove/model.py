"""A careful model: it does what the message asks, reads what it has already done, and does nothing twice.

So if something happens twice, or not at all, Majlis is at fault. Each message has a tag (#a1) that occurs in everything
the agent does about it. The model takes its time, and sometimes fails.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from majlis.models import port
from majlis.models.demo.outline import Outline, Seen

TASK = re.compile(r"^(answer|ask|charge|stamp|plan|approve|chat) (#[a-z]\d+)$")
_ECHO = re.compile(r"answers chat (#[a-z]\d+)$")
# A call that was refused or held, as a timeline shows it: it has not happened.
_REFUSED = re.compile(r"called (?:send_message|set_plans|enter_space)\(.*\"success\": ?false")
_FAILURES = (
    ("model_overloaded", "The model is overloaded.", True),
    ("model_timeout", "The model did not answer in time.", True),
    ("model_broken_stream", "The answer broke off.", True),
)


@dataclass
class ModelTraits:
    """How slow the model is, and how often it fails."""

    seconds: float = 0.3
    failing: float = 0.0


class CarefulModel:
    def __init__(self, traits: ModelTraits, source: random.Random) -> None:
        self._traits = traits
        self._random = source
        self._calls = 0
        # Told of every answer.
        self.tell: Callable[[str], None] = lambda _: None

    def get(self, _choice: object) -> CarefulModel:
        """Returns itself as the model of every agent."""
        return self

    async def context(self, _choice: object) -> port.KnownContext:
        return port.KnownContext(port.UNLIMITED)

    async def stream(self, prompt: port.Prompt) -> AsyncGenerator[port.ModelEvent]:
        await asyncio.sleep(self._random.random() * self._traits.seconds)
        breaks = self._random.random() < self._traits.failing
        if breaks and self._random.random() < 0.5:
            self._fail()
        step = next_step(prompt)
        self.tell("the model has nothing to do" if step is None else f"the model calls {step[0]} {step[1]}")
        usage = port.Usage(input=10, output=5)
        if step is None:
            yield port.Finished(port.Answer("Nothing to do.", (), usage))
            return
        self._calls += 1
        call = port.Call(
            f"call_{self._random.getrandbits(32):x}_{self._calls}", step[0], orjson.dumps(step[1]).decode()
        )
        yield port.CallStarted(0, call.id, call.name)
        half = len(call.arguments) // 2
        yield port.CallDelta(0, call.arguments[:half])
        await asyncio.sleep(self._random.random() * self._traits.seconds)
        if breaks:
            self._fail()
        yield port.CallDelta(0, call.arguments[half:])
        yield port.Finished(port.Answer("", (call,), usage))

    def _fail(self) -> None:
        self.tell("the model fails")
        code, message, retryable = self._random.choice(_FAILURES)
        raise port.ModelFailed(message, retryable, code)


Step = tuple[str, dict[str, Any]]


def next_step(prompt: port.Prompt) -> Step | None:
    outline = prompt.outline() if prompt.outline is not None else Outline()
    done = Done(prompt)
    for seen in outline.events:
        for tag, where in _tasks(seen):
            step = _next(seen, tag, where, done, done.space or outline.active_space_id)
            if step is not None:
                return step
    return None


def _tasks(seen: Seen) -> Iterator[tuple[str, str]]:
    """(task, tag): what the event asks for, and the reply that resumed the run, if it asks for something too."""
    texts = [seen.text, seen.answer.text if seen.answer is not None else "", str(seen.event.get("instruction", ""))]
    for text in texts:
        if (task := TASK.match(text)) is not None:
            yield task[1], task[2]
        elif text.startswith("remind #"):
            yield "remind", text.removeprefix("remind ")
        elif (echo := _ECHO.search(text)) is not None and seen.event.get("chainDepth", 0) <= 1:
            yield "echo", echo[1]


def _next(seen: Seen, task: str, tag: str, done: Done, here: str | None) -> Step | None:
    tools = done.tools
    steps: list[Step] = []
    match task:
        case "ask" if "wait" in tools.get("send_message", ()):
            steps.append(("send_message", {"text": f"{seen.name} asks {tag}", "wait": True}))
        case "charge" | "stamp" if task in tools:
            steps.append((task, {"order": f"{seen.name} {task} {tag}"}))
        case "approve" if "approve" in tools:
            steps.append(("approve", {"question": f"{seen.name} approve {tag}"}))
        case "plan":
            plan = {"name": f"{seen.name} plan {tag}", "instruction": f"remind {tag}", "runAfter": "2 seconds"}
            steps.append(("set_plans", {"plans": [plan]}))
    verb = {"remind": "reminds", "echo": "echoes"}.get(task, "answers chat" if task == "chat" else "answers")
    steps.append(("send_message", {"text": f"{seen.name} {verb} {tag}"}))
    for name, given in steps:
        if not done.has(name, given):
            home = seen.active or (seen.spaces[0] if seen.spaces else None)
            if name in ("send_message", "approve") and home is not None and home.id != here:
                return "enter_space", {"spaceId": home.id}
            return name, given
    return None


class Done:
    """The calls that the prompt shows as made, and the space the agent is in."""

    def __init__(self, prompt: port.Prompt) -> None:
        self.tools = {spec.name: frozenset(spec.schema.get("properties", {})) for spec in prompt.tools}
        self.space: str | None = None
        shown: list[str] = []
        calls: dict[str, port.Call] = {}
        for turn in prompt.turns:
            match turn:
                case port.System(text):
                    shown.append(text)
                case port.User():
                    shown.append(turn.text)
                case port.Said(text, made):
                    calls |= {call.id: call for call in made}
                    shown.append(text)
                case port.Result(call_id, name, content):
                    if '"success":false' not in content:
                        shown.append(calls[call_id].arguments if call_id in calls else "")
                        if name == "enter_space":
                            self.space = orjson.loads(calls[call_id].arguments)["spaceId"]
        lines = "\n".join(shown).splitlines()
        self._text = "\n".join(line for line in lines if _REFUSED.search(line) is None)

    def has(self, name: str, input: dict[str, Any]) -> bool:
        mark = {"send_message": "text", "approve": "question", "set_plans": "plans"}.get(name, "order")
        text = input[mark][0]["name"] if mark == "plans" else input[mark]
        return re.search(rf"{re.escape(text)}(?!\d)", self._text) is not None
