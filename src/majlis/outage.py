"""Logs a fault that lasts: one line when it begins, one when it ends, and a count in between."""

from __future__ import annotations

import time

import structlog

_logger = structlog.get_logger(__name__)


class Outage:
    def __init__(self, what: str) -> None:
        self._what = what
        self._began = 0.0
        # Since the fault began; 0 if all is well.
        self.failures = 0

    def failed(self, error: BaseException) -> None:
        if self.failures == 0:
            self._began = time.monotonic()
            _logger.warning(f"{self._what} failed; trying again", error=repr(error))
        self.failures += 1

    def worked(self) -> None:
        if self.failures:
            seconds = round(time.monotonic() - self._began, 1)
            _logger.info(f"{self._what} works again", failures=self.failures, seconds=seconds)
            self.failures = 0
