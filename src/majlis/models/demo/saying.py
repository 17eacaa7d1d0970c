"""The call that says something, with those inputs only that the agent's send_message has."""

from __future__ import annotations

from typing import Any

from majlis.models.seen import Seen, Step


def say(seen: Seen, text: str, wait: bool = False) -> Step:
    given: dict[str, Any] = {"text": text}
    if wait and "wait" in seen.can_say:
        given["wait"] = True
    # Somebody waits for this answer and should not have to guess what it answers.
    if seen.trigger.expects_reply and not seen.resume and "messageId" in seen.can_say:
        given["messageId"] = seen.trigger.message_id
    return Step("send_message", given)


def shortened(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"
