"""Reads a prompt of the roles mind: a conversation in turns, with the facts in the system message."""

from __future__ import annotations

import re

from majlis.models.port import Prompt, Said, System, User
from majlis.models.seen import Line, Space, Trigger
from majlis.models.seen import Member as Who

_ROLES = "This conversation is a space."
_SO_FAR = "=== THIS RUN SO FAR"
_SIGNED = re.compile(r"\[([^\]\n]+)\]: (.*)", re.DOTALL)
# A line that a member wrote and that could be mistaken for one of the system's.
_MARKED = re.compile(r"^\\", re.MULTILINE)


def is_conversation(prompt: Prompt) -> bool:
    """A plan, a service and a heartbeat come without one, and in a block like the timeline's."""
    first = prompt.turns[0] if prompt.turns else None
    return isinstance(first, System) and _ROLES in first.text and "\nACTIVE SPACE: none" not in first.text


def done_before(prompt: Prompt) -> list[str]:
    """Lines of what this run has done before it began anew."""
    texts = [turn.text for turn in prompt.turns if isinstance(turn, User) and turn.text.startswith(_SO_FAR)]
    return [line.strip() for text in texts for line in text.split("\n")]


def conversation(prompt: Prompt, name: str, active: Space | None) -> tuple[Trigger, tuple[Line, ...]]:
    """The last that was said, and what came before it."""
    said = [line for turn in prompt.turns[1:] if (line := _line(turn, name, active)) is not None]
    if not said:
        return Trigger(), ()
    last = said[-1]
    # How deep a chain is does not show here: who answers an agent is careful as if it were the last to do so.
    depth = 1 if last.type == "agent" else 0
    return Trigger("space_message", Who(last.sender, last.type), last.text, depth=depth), tuple(said[:-1])


def _line(turn: object, name: str, active: Space | None) -> Line | None:
    if isinstance(turn, Said):
        return Line(name, "agent", turn.text) if not turn.calls else None
    if not isinstance(turn, User) or turn.text.startswith(("===", "**")):
        return None
    others = active.others if active else ()
    signed = _SIGNED.fullmatch(turn.text)
    sender = signed[1] if signed else next((each.name for each in others if each.type == "human"), "you")
    kind = next((each.type for each in others if each.name == sender), "human")
    return Line(sender, kind, _MARKED.sub("", signed[2] if signed else turn.text))
