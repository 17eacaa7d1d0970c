"""The result of a measurement, and its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Engine = Literal["sqlite", "postgresql"]
Unit = Literal["s", "ms", "KB", "MB", "/s", "%", "statements", "tasks", "rows"]

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Result:
    """`ours` is held against `floor` or `peer` where there is one (then the bounds are on the ratio), else it stands by
    itself. With a peer the ratio says how many times better we are. `note` is for what could not be measured."""

    measure: str
    engine: Engine
    ours: float
    unit: Unit
    floor: float | None = None
    ratio: float | None = None
    limit: float | None = None
    peer: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def judged(self) -> float | None:
        """The figure that the bounds are on; none when it could not be had."""
        return self.ours if self.ratio is None and not self.note else self.ratio

    @property
    def bounded(self) -> bool:
        return self.limit is not None or self.least is not None

    @property
    def over(self) -> bool:
        judged = self.judged
        if judged is None:
            return False
        return (self.limit is not None and judged > self.limit) or (self.least is not None and judged < self.least)
