"""The bus between processes: a fast path, never the source of truth.

`publish` reaches every subscriber of the subject, here and in other processes. It never blocks or raises, and may lose
messages; subscribers must be able to read what they missed from the database.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol
from zlib import crc32

import structlog

Handler = Callable[[bytes], None]
Unsubscribe = Callable[[], None]

# Processes subscribe to shards, since thousands of topics would need as many subscriptions.
_SHARDS = 64

_logger = structlog.get_logger(__name__)


@lru_cache(4096)
def shard_of(topic: str) -> str:
    return f"events.{crc32(topic.encode()) % _SHARDS}"


class Bus(Protocol):
    kind: str

    async def start(self) -> None: ...

    def publish(self, subject: str, payload: bytes) -> None: ...

    def may_be_heard(self, subject: str) -> bool:
        """False if a message would reach nothing, so that it need not be made."""
        ...

    def subscribe(self, subject: str, handler: Handler) -> Unsubscribe: ...

    def problem(self) -> str | None:
        """Why messages currently do not reach other processes, or None."""
        ...

    async def close(self) -> None: ...


class InProcessBus:
    """For one process: calls subscribers immediately, in order."""

    kind = "in-process"

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}

    async def start(self) -> None:
        return None

    def publish(self, subject: str, payload: bytes) -> None:
        for handler in tuple(self._handlers.get(subject, ())):
            try:
                handler(payload)
            except Exception:
                # The other subscribers still get the message.
                _logger.exception("a bus subscriber failed", subject=subject)

    def may_be_heard(self, subject: str) -> bool:
        return subject in self._handlers

    def subscribe(self, subject: str, handler: Handler) -> Unsubscribe:
        self._handlers.setdefault(subject, []).append(handler)
        return lambda: self._unsubscribe(subject, handler)

    def problem(self) -> str | None:
        return None

    async def close(self) -> None:
        self._handlers.clear()

    def _unsubscribe(self, subject: str, handler: Handler) -> None:
        handlers = self._handlers.get(subject, [])
        if handler in handlers:
            handlers.remove(handler)
        if not handlers:
            self._handlers.pop(subject, None)
