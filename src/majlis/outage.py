"""Logs a fault that lasts: one line when it begins, one when it ends, and a count in between."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

_logger = structlog.get_logger(__name__)


class Outage:
    def __init__(self, what: str, quiet_seconds: float = 0.0) -> None:
        """The fault ends with the first success that comes `quiet_seconds` after the last failure."""
        self.quiet_seconds = quiet_seconds
        self._what = what
        self._began = 0.0
        self._latest = 0.0
        # Since the fault began; 0 if all is well.
        self.failures = 0

    def failed(self, error: BaseException) -> None:
        self._latest = time.monotonic()
        if self.failures == 0:
            self._began = self._latest
            _logger.warning(f"{self._what} failed; trying again", error=_about(error))
        self.failures += 1

    def worked(self) -> None:
        if self.failures and time.monotonic() - self._latest >= self.quiet_seconds:
            seconds = round(self._latest - self._began, 1)
            _logger.info(f"{self._what} works again", failures=self.failures, seconds=seconds)
            self.failures = 0

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Notes how the work ended. An exception does not leave it."""
        try:
            yield
            self.worked()
        except Exception as error:
            self.failed(error)


def _about(error: BaseException) -> str:
    """Describes the error without its content: some errors quote the row or the bytes that they are about."""
    cause = getattr(error, "orig", None) or error
    kind = type(cause).__name__
    if isinstance(cause, ValueError):
        return kind
    line = str(cause).partition("\n")[0].partition(" with text ")[0]
    return f"{kind}: {line}" if line else kind
