"""The bus between processes: a hint and a fast path, never the truth.

`publish` reaches every subscriber of the subject, here and in other processes; it may lose messages when a network
does, and never blocks or raises. Whoever subscribes must be able to find out from the database what it missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import structlog

Handler = Callable[[bytes], None]
Unsubscribe = Callable[[], None]

_logger = structlog.get_logger(__name__)


class Bus(Protocol):
    kind: str

    async def start(self) -> None: ...

    def publish(self, subject: str, payload: bytes) -> None: ...

    def subscribe(self, subject: str, handler: Handler) -> Unsubscribe: ...

    def problem(self) -> str | None:
        """Why messages do not reach other processes now, or None."""
        ...

    async def close(self) -> None: ...


class InProcessBus:
    """For one process: subscribers are called at once, in the order of publishing."""

    kind = "in-process"

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}

    async def start(self) -> None:
        return None

    def publish(self, subject: str, payload: bytes) -> None:
        self.dispatch(subject, payload)

    def subscribe(self, subject: str, handler: Handler) -> Unsubscribe:
        self._handlers.setdefault(subject, []).append(handler)
        return lambda: self._unsubscribe(subject, handler)

    def problem(self) -> str | None:
        return None

    async def close(self) -> None:
        self._handlers.clear()

    def dispatch(self, subject: str, payload: bytes) -> None:
        for handler in tuple(self._handlers.get(subject, ())):
            try:
                handler(payload)
            except Exception:
                # One subscriber's fault must not cost the others the message.
                _logger.exception("a bus subscriber failed", subject=subject)

    def _unsubscribe(self, subject: str, handler: Handler) -> None:
        handlers = self._handlers.get(subject, [])
        if handler in handlers:
            handlers.remove(handler)
        if not handlers:
            self._handlers.pop(subject, None)
