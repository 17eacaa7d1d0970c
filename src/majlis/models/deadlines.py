"""How long one model request may take: until its answer begins, for each further part, and in all.

A hung model holds one of its agent's slots, so waiting is bounded. A server on this machine or in a private network
often runs on slow hardware and reads a long prompt for minutes, so it gets more time to begin.
"""

from __future__ import annotations

import asyncio
import time
from ipaddress import ip_address
from urllib.parse import urlsplit

from majlis.agents.config.model import ModelObject
from majlis.models.port import ModelFailed, Patience
from majlis.models.provider_errors import ProviderErrors

_FIRST_BYTE = 120.0
_FIRST_BYTE_NEARBY = 300.0
_IDLE = 60.0
_NEARBY_NAMES = (".local", ".lan", ".internal", ".localhost")


class Deadlines:
    def __init__(self, choice: ModelObject, given: Patience) -> None:
        self._total = choice.settings.timeout
        # A timeout in the model's settings replaces the defaults, not what the agent's limits say.
        self._first_byte = given.first_byte or self._total or _first_byte(choice)
        self._idle = given.idle or self._total or _IDLE
        self._began = time.monotonic()
        # Set when the first part of the answer has arrived.
        self.begun = False

    def next(self) -> asyncio.Timeout:
        """For a single read. A timeout around the whole stream would also count the time that its consumer takes."""
        passed = time.monotonic() - self._began
        left = self._idle if self.begun else self._first_byte - passed
        return asyncio.timeout(max(0.0, left if self._total is None else min(left, self._total - passed)))

    def failure(self, errors: ProviderErrors) -> ModelFailed:
        """After a timeout: which one it was."""
        if self._total is not None and time.monotonic() - self._began >= self._total:
            return errors.timed_out(self._total)
        return errors.hung(self._idle if self.begun else self._first_byte, self.begun)


def _first_byte(choice: ModelObject) -> float:
    host = urlsplit(choice.base_url).hostname if choice.base_url is not None else None
    return _FIRST_BYTE_NEARBY if host is not None and _is_nearby(str(host)) else _FIRST_BYTE


def _is_nearby(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_NEARBY_NAMES)
