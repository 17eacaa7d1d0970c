"""A call that a server is working on: its time limit, its progress, and what the server asks people meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from majlis.runs.calls.elicit import Reply, ServerQuestion

Tell = Callable[[str], None]

# However much progress a server reports, a call ends after this time.
LONGEST_SECONDS = 3600.0
# Streamable HTTP runs the handler of a server's request in the context of the call that it belongs to.
_here: ContextVar[Ongoing | None] = ContextVar("mcp_call", default=None)


class People(Protocol):
    """The people whom a server may ask during a call."""

    async def ask(self, question: ServerQuestion) -> Reply: ...

    def note(self, text: str) -> None:
        """For the model."""
        ...


class Nobody:
    """For a call outside a run."""

    async def ask(self, question: ServerQuestion) -> Reply:
        return Reply(action="cancel")

    def note(self, text: str) -> None:
        pass


class Ongoing:
    def __init__(self, limit: asyncio.Timeout, seconds: float, tell: Tell, people: People) -> None:
        self.over = False
        self._limit = limit
        self._seconds = seconds
        self._ends = asyncio.get_running_loop().time() + LONGEST_SECONDS
        self._tell = tell
        self._asking = 0
        self.people = people

    @staticmethod
    def of_this_task() -> Ongoing | None:
        found = _here.get()
        return found if found is not None and not found.over else None

    @contextmanager
    def here(self) -> Iterator[None]:
        token = _here.set(self)
        try:
            yield
        finally:
            _here.reset(token)

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        """Also extends the time limit."""
        self._extend()
        self._tell(message or (f"{progress:g} of {total:g}" if total else f"{progress:g}"))

    async def ask(self, question: ServerQuestion) -> Reply:
        """The time that people take does not count."""
        self._asking += 1
        self._limit_to(self._ends)
        try:
            return await self.people.ask(question)
        finally:
            self._asking -= 1
            self._extend()

    def _extend(self) -> None:
        if not self._asking:
            self._limit_to(min(asyncio.get_running_loop().time() + self._seconds, self._ends))

    def _limit_to(self, when: float) -> None:
        if not self.over and not self._limit.expired():
            self._limit.reschedule(when)
