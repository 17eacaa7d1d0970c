"""The steps that a demo agent takes, and helpers for its messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from majlis.models.outline import Seen


@dataclass(frozen=True)
class Step:
    tool: str
    input: dict[str, Any]


def say(seen: Seen, text: str, wait: bool = False) -> Step:
    """Uses only the inputs that the agent's send_message has."""
    inputs = seen.tools.get("send_message", frozenset())
    given: dict[str, Any] = {"text": text}
    if wait and "wait" in inputs:
        given["wait"] = True
    if seen.event.get("senderExpectsReply") and not seen.resumed and "messageId" in inputs:
        given["messageId"] = seen.event["messageId"]
    return Step("send_message", given)


def shortened(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def unaddressed(text: str) -> str:
    """Without the names at the beginning: "@Rawi hello" becomes "hello"."""
    return re.sub(r"^(?:\s*@\S+[\s,:]+)+", "", text).replace("@", "").strip() or text
