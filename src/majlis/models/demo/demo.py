"""A model made of rules. What it does next depends only on the prompt, so a run can continue on another worker.

It works out all steps each time and takes the first that was not taken yet.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from majlis.models import port
from majlis.models.demo.outline import Outline, Seen, names
from majlis.models.demo.rules import GREETING, Step, otherwise, remark, reminder_steps, rule_steps, say, unaddressed
from majlis.models.demo.welcome import welcome_steps
from majlis.models.demo.work import report_reminder, route_steps, turn_steps, work_steps
from majlis.store import ids

_WORDS = re.compile(r"\S+\s*")
# If one of these fails, the agent says so instead of confirming it.
_CONFIRMED = ("set_plans", "set_memories")
# A demo agent answers an agent that answers a person, and no agent further down the chain.
_MAX_DEPTH = 1

Made = tuple[tuple[str, Any], ...]


class DemoModel:
    async def stream(self, prompt: port.Prompt) -> AsyncGenerator[port.ModelEvent]:
        step = _next_step(prompt)
        if step is None:
            yield port.Finished(port.Answer("Nothing to do.", (), port.Usage()))
            return
        call = port.Call(ids.new("stp"), step.tool, orjson.dumps(step.input).decode())
        yield port.CallStarted(0, call.id, call.name)
        for piece in _WORDS.findall(call.arguments):
            # Other tasks run between two words, as with a model that needs time for each.
            await asyncio.sleep(0)
            yield port.CallDelta(0, piece)
        yield port.Finished(port.Answer("", (call,), port.Usage()))


def _next_step(prompt: port.Prompt) -> Step | None:
    if prompt.outline is None:
        return None
    outline = prompt.outline()
    calls, failed = _this_invocation(prompt.turns)
    steps = _all_steps(prompt, outline, calls)
    names_called = [name for name, _ in calls]
    done = outline.calls_made + len(calls)
    if failed:
        seen = steps[done - 1][0] if 0 < done <= len(steps) else None
        if seen is None or seen.active is None or names_called[-1] not in _CONFIRMED:
            return None
        return say(seen, f"Sorry, that did not work: {names_called[-1]} was refused.")
    return steps[done][1] if done < len(steps) else None


def _all_steps(prompt: port.Prompt, outline: Outline, calls: Made) -> list[tuple[Seen, Step]]:
    """In a cycle the agent enters the space of each event that it answers."""
    tools = {spec.name: frozenset(spec.schema.get("properties", {})) for spec in prompt.tools}
    here = outline.active_space_id
    steps: list[tuple[Seen, Step]] = []
    for event in outline.events:
        seen = replace(event, tools=tools, made=(*event.made, *calls))
        found = _steps_for(seen) if outline.routing is None else route_steps(seen, outline.routing)
        if found and seen.active is not None and seen.active.id != here:
            found = [Step("enter_space", {"spaceId": seen.active.id}), *found]
        for step in found:
            here = step.input["spaceId"] if step.tool == "enter_space" else here
            steps.append((seen, step))
    return steps


def _steps_for(seen: Seen) -> list[Step]:
    match seen.event["type"]:
        case "plan":
            return report_reminder(seen) or reminder_steps(seen)
        case "service":
            return welcome_steps(seen)
        case "space_message" if "turnId" in seen.event:
            return turn_steps(seen)
        case "space_message" if seen.event["chainDepth"] <= _MAX_DEPTH and _is_for_me(seen):
            if seen.event["senderType"] == "agent":
                return [say(seen, remark(seen))]
            steps = work_steps(seen)
            if steps is None:
                steps = rule_steps(seen, unaddressed(seen.text))
            return otherwise(seen) if steps is None else steps
    return []


def _is_for_me(seen: Seen) -> bool:
    """If a space has several demo agents, one of them answers a person's message."""
    if seen.event["senderType"] != "agent":
        return seen.named or seen.name == _addressee(seen)
    # Agents also name each other in passing ("Try @Ba hello").
    if names(seen.text[: len(seen.name) + 2], seen.name):
        return True
    # A greeting is for all agents. But any message would end another agent's wait for a reply.
    greeting = GREETING.search(seen.text) is not None
    return greeting and not seen.event.get("senderExpectsReply") and not _spoke_already(seen)


def _spoke_already(seen: Seen) -> bool:
    """True if it has spoken since the last message of a person."""
    for line in reversed(seen.history):
        if line.sender.type == "human":
            return False
        if line.sender.name == seen.name:
            return True
    return False


def _addressee(seen: Seen) -> str | None:
    """The agent that a person's message without my name is for: the one that asked the question just before, or else
    the first by name. None if the message names another agent."""
    others = seen.other_agents
    if any(names(seen.text, name) for name in others):
        return None
    before = seen.history[-1] if seen.history else None
    if before is not None and before.sender.name in (seen.name, *others) and before.text.rstrip().endswith("?"):
        return before.sender.name
    return min([seen.name, *others], key=str.casefold)


def _this_invocation(turns: Sequence[port.Turn]) -> tuple[Made, bool]:
    """The names and outputs of the calls made since the prompt was built, and whether the last one failed. A message
    that was held is sent again: the rules do not depend on what has arrived (E8).

    Turns of earlier cycles, and earlier messages in the roles mind, end with text that has no calls."""
    calls: list[port.Call] = []
    results: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for turn in reversed(turns):
        if isinstance(turn, port.Result):
            output = _parsed(turn.content)
            outputs.setdefault(turn.call_id, output)
            results.setdefault(turn.call_id, output if isinstance(output, dict) else {})
        elif isinstance(turn, port.Said):
            if not turn.calls:
                break
            calls[:0] = turn.calls
    made = [call for call in calls if results.get(call.id, {}).get("status") != "held"]
    last = results.get(made[-1].id, {}) if made and made[-1] is calls[-1] else {}
    named = tuple((call.name, outputs.get(call.id)) for call in made)
    return named, last.get("success") is False or "error" in last


def _parsed(result: str) -> Any:
    try:
        return json.loads(result)
    except ValueError:
        return result
