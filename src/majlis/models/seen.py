"""What the demo model has understood of a prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

# The name of the tool with which the demo agents ask people (J5).
ASKING = "ask_approval"


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
    """Of the fields, those that the type of trigger has."""

    type: str = ""
    sender: Member | None = None
    text: str = ""
    message_id: str = ""
    expects_reply: bool = False
    depth: int = 0
    instruction: str = ""
    service: str = ""
    payload: Any = None


@dataclass(frozen=True)
class Resume:
    """How the wait ended. `answer` may be missing: it can be in a space that is not in view."""

    status: Literal["replied", "timeout"]
    answer: Line | None = None


@dataclass(frozen=True)
class Seen:
    name: str
    trigger: Trigger
    spaces: tuple[Space, ...]
    active: Space | None
    # What was said before the trigger.
    history: tuple[Line, ...]
    memories: tuple[tuple[str, str], ...]
    resume: Resume | None
    # The calls of this run so far, and what the last one in this invocation came to.
    done: tuple[str, ...]
    last_result: Any
    # The inputs that send_message has here, which differ between agents (M2, M3).
    can_say: frozenset[str]
    # The tool with which it can ask for approval, if it has one, and what people answered.
    can_ask: bool = False
    approved: bool | None = None

    @property
    def failed(self) -> bool:
        result = self.last_result
        return isinstance(result, dict) and (result.get("success") is False or "error" in result)

    @property
    def named(self) -> bool:
        """Whether the message says this agent's name."""
        return names(self.trigger.text, self.name)

    @property
    def asker(self) -> str:
        """Whoever is being answered: the sender of the trigger, or the one who answered a question of ours."""
        if self.trigger.sender is not None:
            return self.trigger.sender.name
        answer = self.resume.answer if self.resume else None
        return answer.sender if answer else "you"


def names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def unaddressed(text: str) -> str:
    """What is said to whoever is named at the beginning: "@Rawi hello" says hello."""
    return re.sub(r"^(?:\s*@\S+[\s,:]+)+", "", text).replace("@", "").strip() or text


@dataclass(frozen=True)
class Step:
    tool: str
    input: dict[str, Any]
