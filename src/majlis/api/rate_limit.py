"""Rate limits: a token bucket per caller, in the memory of this process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from majlis import metrics
from majlis.errors import TooMany

_SWEEP_AT = 10_000


class RateLimit:
    def __init__(self, name: str, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        # key → (tokens left, at this time)
        self._buckets: dict[str, tuple[float, float]] = {}

    def spend(self, key: str) -> None:
        if self._per_second <= 0:
            return
        now = self._clock()
        left, at = self._buckets.get(key, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._per_second)
        if left < 1:
            self._buckets[key] = (left, now)
            metrics.limited.labels(self._name).inc()
            retry_after = math.ceil((1 - left) / self._per_second)
            raise TooMany("rate_limited", f"Too many requests. Try again in {retry_after} s.", retry_after)
        self._buckets[key] = (left - 1, now)
        if len(self._buckets) > _SWEEP_AT:
            self._drop_full(now)

    def _drop_full(self, now: float) -> None:
        full_after = self._burst / self._per_second
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if now - bucket[1] < full_after}
