"""Reads a prompt of the consciousness mind: an inbox of several events, each answered where it came from."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from majlis.models.demo.deciding import steps_for
from majlis.models.demo.reading import read
from majlis.models.port import Prompt, Result, Said, Turn, User
from majlis.models.seen import Member, Seen, Space, Step, Trigger

_INBOX = re.compile(r"^INBOX \(\d+ events?, \S+\):\n", re.MULTILINE)
_MESSAGE = re.compile(r"^\[(?P<space>.+?)(?:, id: (?P<id>\S+))?\] (?P<name>[^\[\]():]+) \((?P<type>\w+)\): (?=\")")
_PLAN = re.compile(r"^\[Plan: .*?\] (?P<instruction>.+)")
_SERVICE = re.compile(r"^\[Service: (?P<name>[^\]]+)\] (?P<payload>.+)")
_ACTIVE = re.compile(r"^ACTIVE SPACE: .* \(id: ([^)\s]+)\)$", re.MULTILINE)
_CALLED = re.compile(r"^  (?:\[msg:\S+\] )?\[\S+\] You: called (\w+)\(", re.MULTILINE)
_decoder = json.JSONDecoder()


def is_cycle(prompt: Prompt) -> bool:
    return any(isinstance(turn, User) and _INBOX.search(turn.text) for turn in prompt.turns)


def next_of_cycle(prompt: Prompt) -> Step | None:
    """As in a run: the first step that was not taken yet. One that failed ends the cycle."""
    now = _this_cycle(prompt.turns)
    results = [turn.content for turn in now if isinstance(turn, Result)]
    if results and '"success":false' in results[-1].replace(" ", ""):
        return None
    text = now[0].text if isinstance(now[0], User) else ""
    calls = [call.name for turn in now if isinstance(turn, Said) for call in turn.calls]
    done = len(_CALLED.findall(text)) + len(calls)
    steps = _steps(read(prompt), text)
    return steps[done] if done < len(steps) else None


def _this_cycle(turns: Sequence[Turn]) -> Sequence[Turn]:
    begins = [at for at, turn in enumerate(turns) if isinstance(turn, User) and _INBOX.search(turn.text)]
    return turns[begins[-1] :]


def _steps(seen: Seen, text: str) -> list[Step]:
    """It enters the space of each event that it has something to say about, unless it is there."""
    active = _ACTIVE.findall(text)
    standing = active[-1] if active else None
    steps: list[Step] = []
    for line in text[_INBOX.search(text).end() :].split("\n\n")[0].split("\n"):  # type: ignore[union-attr]
        trigger, space = _event(line, seen)
        found = steps_for(replace(seen, trigger=trigger, active=space, history=(), done=(), last_result=None))
        if space is not None and found and space.id != standing:
            found = [Step("enter_space", {"spaceId": space.id}), *found]
        entered = [step.input["spaceId"] for step in found if step.tool == "enter_space"]
        standing = entered[-1] if entered else standing
        steps += found
    return steps


def _event(line: str, seen: Seen) -> tuple[Trigger, Space | None]:
    if found := _MESSAGE.match(line):
        named = found["space"]
        name = json.loads(named) if named.startswith('"') else named
        space = next((each for each in seen.spaces if each.id == found["id"] or each.name == name), None)
        text, _ = _decoder.raw_decode(line, found.end())
        # How deep a chain is does not show here: who answers an agent is careful as if it were the last to do so.
        depth = 1 if found["type"] == "agent" else 0
        sender = Member(found["name"], found["type"])
        return Trigger("space_message", sender, text, depth=depth), space
    if found := _PLAN.match(line):
        said = found["instruction"]
        return Trigger("plan", instruction=json.loads(said) if said.startswith('"') else said), None
    if found := _SERVICE.match(line):
        return Trigger("service", service=found["name"], payload=_payload(found["payload"])), None
    return Trigger(), None


def _payload(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
