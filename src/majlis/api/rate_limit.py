"""Rate limits: a bucket for each caller that refills steadily. In memory, for this process; forgotten when full."""

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
        # key → (tokens left, when that was so)
        self._buckets: dict[str, tuple[float, float]] = {}

    def spend(self, key: str) -> None:
        """Take one, or refuse with the time to wait."""
        if self._per_second <= 0:
            return
        now = self._clock()
        left, at = self._buckets.get(key, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._per_second)
        if left < 1:
            self._buckets[key] = (left, now)
            metrics.limited.labels(self._name).inc()
            raise TooMany(
                "rate_limited", "Too many requests. Wait and try again.", math.ceil((1 - left) / self._per_second)
            )
        self._buckets[key] = (left - 1, now)
        if len(self._buckets) > _SWEEP_AT:
            self._sweep(now)

    def _sweep(self, now: float) -> None:
        full_after = self._burst / self._per_second
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if now - bucket[1] < full_after}
