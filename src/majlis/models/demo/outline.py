"""The outline: what a mind shows, as plain data. The demo model decides by it; other models read the prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

_MAX_TEXT = 2000


class Member(NamedTuple):
    name: str
    type: str


class Space(NamedTuple):
    id: str
    name: str
    others: tuple[Member, ...]
    phase: str | None = None


class Line(NamedTuple):
    """A message."""

    sender: Member
    text: str


@dataclass(frozen=True)
class Seen:
    """One event and its context."""

    name: str
    # T11, in the API's form.
    event: Mapping[str, Any]
    spaces: tuple[Space, ...]
    # The space to answer in.
    active: Space | None
    memories: tuple[str, ...]
    # Before the event.
    history: tuple[Line, ...] = ()
    # How a wait ended. The answer may be missing if it is not in view.
    resumed: Literal["replied", "timeout"] | None = None
    answer: Line | None = None
    # Names and outputs of the calls of this run; None if a call failed or its outcome is unknown.
    made: tuple[tuple[str, Any], ...] = ()
    # Tools and their inputs, which differ between agents (M2, M3). The model fills this in.
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The beginning is enough for the rules, whose patterns take quadratic time on some texts."""
        return str(self.event.get("text", ""))[:_MAX_TEXT]

    @property
    def named(self) -> bool:
        """The message contains this agent's name."""
        return names(self.text, self.name)

    @property
    def asker(self) -> str:
        """The sender of the message, or else of the answer to our question."""
        return str(self.event.get("senderName") or (self.answer.sender.name if self.answer else "you"))

    @property
    def other_agents(self) -> list[str]:
        return [member.name for member in self.active.others if member.type == "agent"] if self.active else []


class Routing(NamedTuple):
    """An orchestrator decides by this (R8)."""

    agents: tuple[str, ...]
    finished_turns: int
    under_way: bool


class Outline(NamedTuple):
    # One event in a run, the whole inbox in a cycle.
    events: tuple[Seen, ...] = ()
    # Where the agent is at the start.
    active_space_id: str | None = None
    # Calls made by earlier invocations of this run, or by earlier attempts.
    calls_made: int = 0
    routing: Routing | None = None


def names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
