"""What a mind shows, as plain data. The demo model decides by it; other models read the prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Member:
    name: str
    type: str


@dataclass(frozen=True)
class Space:
    id: str
    name: str
    others: tuple[Member, ...]


@dataclass(frozen=True)
class Line:
    """A message in the history."""

    sender: str
    type: str
    text: str


@dataclass(frozen=True)
class Trigger:
    """Fields that the type of trigger does not have are empty."""

    type: str
    sender: Member | None = None
    text: str = ""
    message_id: str = ""
    expects_reply: bool = False
    depth: int = 0
    instruction: str = ""
    service: str = ""
    payload: Any = None


@dataclass(frozen=True)
class Made:
    """A call that this run made before. `output` is None if the call failed or its outcome is unknown."""

    name: str
    output: Any


@dataclass(frozen=True)
class Resume:
    """How the wait ended. `answer` is None if it is not in view."""

    status: Literal["replied", "timeout"]
    answer: Line | None = None


@dataclass(frozen=True)
class Seen:
    """One event and its context."""

    name: str
    trigger: Trigger
    spaces: tuple[Space, ...]
    # The space to answer in.
    active: Space | None
    memories: tuple[tuple[str, str], ...]
    # Before the trigger.
    history: tuple[Line, ...] = ()
    resume: Resume | None = None
    made: tuple[Made, ...] = ()
    # The inputs of send_message, which differ between agents (M2, M3), and all tools; the model fills them in.
    can_say: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()

    @property
    def named(self) -> bool:
        """The message contains this agent's name."""
        return names(self.trigger.text, self.name)

    @property
    def asker(self) -> str:
        """The sender of the trigger, or else of the answer to our question."""
        if self.trigger.sender is not None:
            return self.trigger.sender.name
        answer = self.resume.answer if self.resume else None
        return answer.sender if answer else "you"

    @property
    def other_agents(self) -> list[str]:
        return [member.name for member in self.active.others if member.type == "agent"] if self.active else []


@dataclass(frozen=True)
class Outline:
    # One event in a run, the whole inbox in a cycle.
    events: tuple[Seen, ...] = ()
    # Where the agent is at the start.
    active_space_id: str | None = None
    # Calls made by earlier invocations of this run, or by earlier attempts.
    calls_made: int = 0


def names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
