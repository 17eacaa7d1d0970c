"""A view as text and as lines, and a strict parser of history lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Scene
from majlis.models.port import System, User

HEADINGS = (
    *("IDENTITY:", "TRIGGER:", "ACTIVE SPACE:", "SPACE HISTORY", "THIS RUN SO FAR:", "YOUR SPACES:", "GOALS:"),
    *("MEMORIES:", "PLANS:", "ACTIVE RUNS:", "INSTRUCTIONS:", "YOUR INSTRUCTIONS:", "NOW:"),
)

_STRING = r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"'
_LINE = re.compile(
    r"  \[msg:(?P<id>msg_[0-9a-z]{16})\] \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] "
    r"(?P<name>[^\[\]()\":]+) \((?P<type>human|agent|service), id:(?P<sender>ent_[0-9a-z]+)\)"
    r": "
    rf"(?P<text>{_STRING})"
    r"(?: \(in reply to msg:(?P<reply>msg_[0-9a-z]{16})\))?"
    rf"(?P<quotes>(?: \(quotes msg:msg_[0-9a-z]{{16}} by [^\[\]()\":]+: {_STRING}…?\))*)"
    r"  \[(?P<tag>SEEN|NEW)\](?P<trigger> ← TRIGGER)?"
)
_STRINGS = re.compile(_STRING)


@dataclass(frozen=True)
class Read:
    id: str
    sender: str
    text: str
    tag: str
    trigger: bool


def seen_text(scene: Scene) -> str:
    return "\n".join(turn.text for turn in perceive(scene).turns if isinstance(turn, System | User))


def lines_of(text: str) -> list[str]:
    """Physical lines by `splitlines`, which knows ten line endings."""
    return text.splitlines()


def history_of(text: str) -> list[str]:
    lines = lines_of(text)
    begin = next(n for n, line in enumerate(lines) if line.startswith("SPACE HISTORY"))
    return lines[begin + 1 : lines.index("", begin)]


def read(line: str) -> Read:
    found = _LINE.fullmatch(line)
    assert found is not None, f"not a line of ours: {line[:400]}"
    return Read(found["id"], found["sender"], json.loads(found["text"]), found["tag"], found["trigger"] is not None)


def outside_strings(line: str) -> str:
    return _STRINGS.sub('""', line)


def headings_of(text: str) -> list[str]:
    return [heading for line in lines_of(text) for heading in HEADINGS if line.startswith(heading)]
