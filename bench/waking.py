"""One message after the other to an idle agent, and the time between each commit and its request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from bench.gateways import Office
from bench.words import sentences
from majlis.live.log import LoggedEvent

# As many messages as a window shows, and some.
_HISTORY = 60
_PATIENCE_SECONDS = 30
# After a run, until the worker has seen that there is nothing more to do, and the processor has turned to other things.
REST_SECONDS = 0.005


class Waking:
    """`asked` gives the moment at which the last request came in, once the run has ended. `rest` is how long a message
    waits after the end of the run before it."""

    def __init__(
        self, runner: asyncio.Runner, office: Office, asked: Callable[[], float], rest: float = REST_SECONDS
    ) -> None:
        self._runner = runner
        self._office = office
        self._asked = asked
        self.rest = rest
        self._texts = sentences()
        self._committed_at = 0.0
        self._ended = asyncio.Event()
        self._publish = office.gateway.db.after_commit
        office.gateway.db.after_commit = self._committed
        # Also from the call that posts, which is earlier by the post itself.
        self.from_the_call: list[float] = []
        self.times(_HISTORY)
        self.from_the_call.clear()

    def times(self, count: int) -> list[float]:
        """A `Sampler`."""
        return self._runner.run(self._wake(count))

    async def _wake(self, count: int) -> list[float]:
        return [await self._one(next(self._texts)) for _ in range(count)]

    async def _one(self, text: str) -> float:
        self._committed_at = 0.0
        self._ended.clear()
        called_at = time.perf_counter()
        await self._office.say(text)
        await asyncio.wait_for(self._ended.wait(), _PATIENCE_SECONDS)
        await asyncio.sleep(self.rest)
        asked_at = self._asked()
        self.from_the_call.append(asked_at - called_at)
        return asked_at - self._committed_at

    def _committed(self, outbox: list[object]) -> None:
        """The first to leave after a call is the message itself, the last is the end of the run."""
        if not self._committed_at:
            self._committed_at = time.perf_counter()
        self._publish(outbox)
        if any(isinstance(item, LoggedEvent) and item.type == "run.completed" for item in outbox):
            self._ended.set()
