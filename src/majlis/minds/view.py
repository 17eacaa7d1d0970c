"""What a mind makes of the world for one invocation of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from majlis.models.outline import Outline
from majlis.models.port import Turn


@dataclass(frozen=True, slots=True)
class View:
    """The turns that begin an invocation, and for each space the number of the newest message shown in them (C2)."""

    turns: tuple[Turn, ...]
    shown: dict[str, int]
    # None after the agent was removed from the space (A7).
    active_space_id: str | None
    # The same as plain data, for the demo model.
    outline: Callable[[], Outline]
    # Roles: for each space the newest message known before this trigger, so that a later try sees the same (R5).
    since: dict[str, int] = field(default_factory=dict)
    # Roles: the external session that goes on with this request, and whether a new one would be kept (R7).
    session_id: str | None = None
    keeps_session: bool = False
    # Tools that the agent has only where the run is.
    beside: tuple[str, ...] = ()
    # Remarks for people, kept on the run.
    notes: tuple[str, ...] = ()
