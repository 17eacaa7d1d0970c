"""What was missed, as one block before the trigger (R4), with what was handed over (R6)."""

from __future__ import annotations

from collections.abc import Sequence

from majlis.minds.roles.escape import harmless
from majlis.minds.roles.scene import Scene
from majlis.minds.roles.speech import is_own, missed_line, words_of
from majlis.minds.timeline.scene import Message

AWAY = "=== MESSAGES WHILE YOU WERE AWAY ==="
END = "=== END OF HISTORY ==="
NEW = "=== NEW INTERACTION ==="


def known_and_missed(scene: Scene) -> tuple[list[Message], list[Message]]:
    """Each message once. What the agent said itself it has not missed; who is here for the first time has missed
    nothing either: all of the past is its history (R3)."""
    since = scene.place.since if scene.place else None
    known: list[Message] = []
    missed: list[Message] = []
    for message in scene.history:
        new = since is not None and message.seq > since and not is_own(scene, message)
        (missed if new and words_of(scene, message) else known).append(message)
    return known, missed


def away_block(scene: Scene, missed: Sequence[Message]) -> str | None:
    summary = _summary(scene)
    if not missed:
        return f"{summary}\n\n{NEW}" if summary else None
    lines = [AWAY, *([summary] if summary else []), *(missed_line(scene, each) for each in missed), END, NEW]
    return "\n\n".join(lines)


def _summary(scene: Scene) -> str | None:
    if scene.place is None or not scene.place.summary:
        return None
    return f"**Previous context**: {harmless(scene.place.summary)}"
