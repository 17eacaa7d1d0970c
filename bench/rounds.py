"""Two things measured in turn, so that whatever else the machine does hits both alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

# Does its work this many times. Returns the seconds that each took.
Sampler = Callable[[int], list[float]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Medians over the rounds, in milliseconds. The ratio is the median of the rounds' own ratios."""

    ours: float
    floor: float
    ratio: float


def compare(ours: Sampler, floor: Sampler, rounds: int, each: int) -> Compared:
    ours(each), floor(each)  # warm up
    pairs = [_round(ours, floor, each, ours_first=bool(number % 2)) for number in range(rounds)]
    return Compared(
        median(mine for mine, _ in pairs),
        median(other for _, other in pairs),
        median(mine / other for mine, other in pairs),
    )


def _round(ours: Sampler, floor: Sampler, each: int, ours_first: bool) -> tuple[float, float]:
    if ours_first:
        mine = ours(each)
        other = floor(each)
    else:
        other = floor(each)
        mine = ours(each)
    return median(mine) * 1000, median(other) * 1000
