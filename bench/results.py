"""What a measure found, and whether that is within its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Engine = Literal["sqlite", "postgresql"]
Unit = Literal["ms", "KB", "statements"]

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Result:
    """`ours` is held against `floor` where there is one (then the limit is on the ratio), else it stands by itself."""

    measure: str
    engine: Engine
    ours: float
    unit: Unit
    floor: float | None = None
    ratio: float | None = None
    limit: float | None = None

    @property
    def over(self) -> bool:
        judged = self.ours if self.ratio is None else self.ratio
        return self.limit is not None and judged > self.limit
