"""Rate limits: a token bucket per caller, in the memory of this process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from majlis import metrics
from majlis.errors import TooMany

_SWEEP_AT = 10_000


@dataclass(slots=True)
class RateLimit:
    name: str
    per_second: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    # key → (tokens left, at this time)
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def spend(self, key: str) -> None:
        if self.per_second <= 0:
            return
        now = self.clock()
        left, at = self._buckets.get(key, (float(self.burst), now))
        left = min(self.burst, left + (now - at) * self.per_second)
        if left < 1:
            self._buckets[key] = (left, now)
            metrics.limited.labels(self.name).inc()
            retry_after = math.ceil((1 - left) / self.per_second)
            raise TooMany("rate_limited", f"Too many requests. Try again in {retry_after} s.", retry_after)
        self._buckets[key] = (left - 1, now)
        if len(self._buckets) > _SWEEP_AT:
            # Drop the buckets that are full again.
            full_after = self.burst / self.per_second
            self._buckets = {key: bucket for key, bucket in self._buckets.items() if now - bucket[1] < full_after}
