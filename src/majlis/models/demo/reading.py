"""Reads a prompt of the timeline mind (behaviours X1-X7): blocks of lines, with members' words as JSON strings. Of the
roles mind the system message is read here, what was said in `turns`."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from typing import Any

from majlis.models.demo.turns import conversation, done_before, is_conversation
from majlis.models.port import Prompt, Result, Said, System, User
from majlis.models.seen import ASKING, Line, Member, Resume, Seen, Space, Trigger

_HEADING = re.compile(r"([A-Z][A-Z ]+)(?: \(.*\))?:(.*)")
_MEMBER = re.compile(r"(?:^|, )(.+?) \((human|agent|service)\)")
_SENDER = re.compile(r"(.+) \((\w+), id: ?\S+\)")
_LINE = re.compile(r"\[msg:\S+\] \[\S+\] (.+?) \((\w+), id:[^)]+\)(?: in reply to msg:\S+)?: ")
_CALLED = re.compile(r"(?:\[msg:\S+\] )?\[\S+\] You: called (\w+)\(")
_SPACE = re.compile(r" \(id: ([^)]+)\)(?: \[ACTIVE\])? — ")
_MEMORY = re.compile(r"- \[(.+?)\] (.*)")
_RESUME = re.compile(r"← RESUME: (.*)\. Continue from here\.$")
_ASKED = re.compile(rf"You: called {ASKING}\(.*?\) → (\{{.*)")
_decoder = json.JSONDecoder()


def read(prompt: Prompt) -> Seen:
    blocks = _blocks(prompt)
    history = blocks.get("SPACE HISTORY", []) + blocks.get("THIS RUN SO FAR", [])
    spaces = tuple(filter(None, map(_space, blocks.get("YOUR SPACES", []))))
    said = [call.name for turn in prompt.turns if isinstance(turn, Said) for call in turn.calls]
    results = [turn.content for turn in prompt.turns if isinstance(turn, Result)]
    name = str(_fields(blocks.get("IDENTITY", [])).get("name", ""))
    active = _active(blocks, spaces)
    trigger = _trigger(_fields(blocks.get("TRIGGER", [])))
    before = tuple(filter(None, map(_line, takewhile(_is_earlier, history))))
    if is_conversation(prompt):
        trigger, before = conversation(prompt, name, active)
        history = done_before(prompt)
    return Seen(
        name=name,
        trigger=trigger,
        spaces=spaces,
        active=active,
        history=before,
        memories=tuple(filter(None, map(_memory, blocks.get("MEMORIES", [])))),
        resume=next(filter(None, map(_resume, reversed(history))), None),
        done=(*(found[1] for line in history if (found := _CALLED.match(line))), *said),
        last_result=_json(results[-1]) if results else None,
        can_say=_inputs(prompt, "send_message"),
        can_ask=bool(_inputs(prompt, ASKING)),
        approved=next(filter(None, map(_approval, history)), {}).get("approved"),
    )


def _blocks(prompt: Prompt) -> dict[str, list[str]]:
    """Lines without their indent, by heading. What is on a heading's own line is its first.

    The newest turns first, and of two blocks the first: an owner's instructions may hold headings of their own."""
    blocks: dict[str, list[str]] = {}
    # In a conversation a user's turn is what somebody said, and no block.
    texts = [] if is_conversation(prompt) else [turn.text for turn in prompt.turns if isinstance(turn, User)]
    texts += [turn.text for turn in prompt.turns if isinstance(turn, System)]
    for text in texts:
        lines: list[str] = []
        for line in text.split("\n"):
            found = _HEADING.fullmatch(line)
            if found:
                lines = [found[2].strip()] if found[2].strip() else []
                blocks.setdefault(found[1], lines)
            elif line.startswith("  "):
                lines.append(line[2:])
    return blocks


def _fields(lines: list[str]) -> dict[str, Any]:
    pairs = (line.partition(": ") for line in lines)
    return {name: _value(text) for name, _, text in pairs}


def _value(text: str) -> Any:
    """A JSON value at the start of the text, or the text itself."""
    try:
        return _decoder.raw_decode(text)[0]
    except ValueError:
        return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _trigger(fields: dict[str, Any]) -> Trigger:
    return Trigger(
        type=str(fields.get("type", "")),
        sender=_member(str(fields.get("sender", ""))),
        text=str(fields.get("message", "")),
        message_id=str(fields.get("messageId", "")),
        expects_reply=fields.get("senderExpectsReply") is True,
        depth=int(fields.get("chainDepth", 0)),
        instruction=str(fields.get("instruction", "")),
        service=str(fields.get("service", "")),
        payload=fields.get("payload"),
    )


def _member(text: str) -> Member | None:
    found = _SENDER.fullmatch(text)
    return Member(found[1], found[2]) if found else None


def _space(line: str) -> Space | None:
    if not line.startswith('- "'):
        return None
    name, end = _decoder.raw_decode(line, 2)
    found = _SPACE.match(line, end)
    if not found:
        return None
    members = tuple(Member(*pair) for pair in _MEMBER.findall(line[found.end() :]))
    return Space(found[1], str(name), members)


def _active(blocks: dict[str, list[str]], spaces: tuple[Space, ...]) -> Space | None:
    shown = " ".join(blocks.get("ACTIVE SPACE", []))
    return next((space for space in spaces if f"(id: {space.id})" in shown), None)


def _is_earlier(line: str) -> bool:
    """Earlier than the trigger, so that a run that goes on after a wait sees what it saw when it began."""
    return not line.endswith("← TRIGGER")


def _line(line: str) -> Line | None:
    found = _LINE.match(line)
    if not found:
        return None
    text = _value(line[found.end() :])
    return Line(found[1], found[2], text if isinstance(text, str) else "")


def _memory(line: str) -> tuple[str, str] | None:
    found = _MEMORY.fullmatch(line)
    return (str(_value(found[1])), str(_value(found[2]))) if found else None


def _resume(line: str) -> Resume | None:
    found = _RESUME.search(line)
    if not found:
        return None
    return Resume("timeout") if found[1].startswith("timeout") else Resume("replied", _line(line))


def _approval(line: str) -> dict[str, Any] | None:
    """What people answered when they were asked for their approval; nothing yet is no answer."""
    found = _ASKED.search(line)
    outcome = _value(found[1]) if found else None
    return outcome if isinstance(outcome, dict) else None


def _inputs(prompt: Prompt, tool: str) -> frozenset[str]:
    schema = next((spec.schema for spec in prompt.tools if spec.name == tool), {})
    return frozenset(schema.get("properties", {}))
