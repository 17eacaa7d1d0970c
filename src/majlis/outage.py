"""Logs a fault that lasts: one line when it begins, one when it ends, and a count in between."""

from __future__ import annotations

import time

import structlog

_logger = structlog.get_logger(__name__)


class Outage:
    def __init__(self, what: str) -> None:
        self._what = what
        self._failures = 0
        self._began = 0.0

    @property
    def failures(self) -> int:
        """Since it began; 0 if all is well."""
        return self._failures

    def failed(self, error: BaseException) -> None:
        if self._failures == 0:
            self._began = time.monotonic()
            _logger.warning(f"{self._what} failed; trying again", error=repr(error))
        self._failures += 1

    def worked(self) -> None:
        if self._failures:
            seconds = round(time.monotonic() - self._began, 1)
            _logger.info(f"{self._what} works again", failures=self._failures, seconds=seconds)
            self._failures = 0
