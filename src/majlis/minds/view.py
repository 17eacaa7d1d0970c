"""What a mind makes of the world for one invocation of the model."""

from __future__ import annotations

from dataclasses import dataclass

from majlis.models.port import Turn


@dataclass(frozen=True, slots=True)
class View:
    """The turns that begin an invocation, and for each space the number of the newest message shown in them (C2)."""

    turns: tuple[Turn, ...]
    shown: dict[str, int]
    # Where the run is now: none once the agent has been removed from there (A7).
    active_space_id: str | None
