"""The view: what a mind shows to the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from majlis.files.sniff import PICTURES
from majlis.models.demo.outline import Outline
from majlis.models.port import Turn

MAX_PICTURES = 8


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`why`: the agent's window, the budget of the request (F1), or the most that a message may have in a line."""

    what: str
    how: Literal["left out", "shortened", "summarised"]
    count: int
    why: Literal["window", "budget", "length"]


@dataclass(frozen=True, slots=True)
class View:
    """The first turns of an invocation. `shown` is the newest message number that they contain, per space (C2)."""

    turns: tuple[Turn, ...]
    shown: dict[str, int]
    # None after the agent was removed from the space (A7).
    active_space_id: str | None
    # The same as plain data, for the demo model.
    outline: Callable[[], Outline]
    # Roles: per space, the newest message known before this trigger, so that a retry shows the same (R5).
    since: dict[str, int] = field(default_factory=dict)
    # Consciousness: the newest message of the active space, which it has not read.
    stands_at: dict[str, int] = field(default_factory=dict)
    # The active space has a policy for tools.
    governed: bool = True
    # Roles: the external session that this request continues, and whether a new one is stored (R7).
    session_id: str | None = None
    keeps_session: bool = False
    # Tools that the agent has only in this space.
    beside: tuple[str, ...] = ()
    # F3: blocks of messages in a space that left the window and have no summary, newest first.
    unsummarised: tuple[tuple[str, int], ...] = ()
    # The files of what is shown that are pictures (L5), newest first.
    pictures: tuple[Mapping[str, Any], ...] = ()
    # Notes for people: those stored with the request, and those on the run.
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


def pictures_of(carried: Iterable[Iterable[Mapping[str, Any]] | None]) -> tuple[Mapping[str, Any], ...]:
    """The newest pictures among the files of messages, oldest message first. Returns the newest first, each once."""
    found: dict[str, Mapping[str, Any]] = {}
    for files in reversed([files for files in carried if files]):
        for file in files:
            if file.get("mediaType") in PICTURES and len(found) < MAX_PICTURES:
                found.setdefault(file["id"], file)
    return tuple(found.values())
