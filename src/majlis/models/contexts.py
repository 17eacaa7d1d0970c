"""How many tokens a request to a model may have (F1), and who says so.

The table of known models comes first. It does not have servers that people run themselves: these are asked, in the
background. A run waits for the answer of a server that has not been asked yet, but not for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import httpx

from majlis import clock
from majlis.agents.config.model import ModelObject
from majlis.model_providers import OWN_PROTOCOL, Key, local_url
from majlis.models.catalog import DEFAULT_CONTEXT, known_size
from majlis.models.chat.client import Clients
from majlis.models.connect.offers import listing_at
from majlis.models.connect.shapes import SizeJson
from majlis.models.port import Context
from majlis.models.server_sizes import Size, ask_size

_WAIT_SECONDS = 1.0
_ASK_SECONDS = 5.0
_MINUTE = 60_000
# How old an answer may be. One about a model that was not loaded yet is asked for again at the next run.
_KEPT, _KEPT_FAILURE, _KEPT_UNLOADED = 10 * _MINUTE, _MINUTE, 2_000
_MAX_ANSWERS = 1000

Place = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class _Answer:
    size: Size | None
    failed: bool
    at: int

    @property
    def is_old(self) -> bool:
        kept = _KEPT_UNLOADED if self.is_unloaded else _KEPT_FAILURE if self.failed else _KEPT
        return clock.now() - self.at >= kept

    @property
    def is_unloaded(self) -> bool:
        return self.size is not None and not self.size.loaded

    @property
    def shown(self) -> SizeJson:
        if self.size is None or (self.is_unloaded and self.size.tokens > DEFAULT_CONTEXT):
            return {"tokens": DEFAULT_CONTEXT, "source": "default"}
        return {"tokens": self.size.tokens, "source": "server"}


class Contexts:
    def __init__(self, clients: Clients, environ: Mapping[str, str]) -> None:
        self._clients = clients
        self._environ = environ
        self._answers: dict[Place, _Answer] = {}
        # With the time after which no run waits for it any more.
        self._asking: dict[Place, tuple[asyncio.Task[None], float]] = {}
        self.wait_seconds = _WAIT_SECONDS
        self.ask_seconds = _ASK_SECONDS

    async def of(self, choice: ModelObject, key_for: Callable[[], Awaitable[Key]]) -> Context:
        """Never fails: a model whose server cannot be asked has the default."""
        place = _place(choice)
        known = await known_size(*place)
        if known is not None:
            return Context(known, "known")
        present = self._answers.get(place)
        if present is None or present.is_old:
            asking, until = self._asking.get(place) or self._begin(place, choice, key_for)
            if present is None or present.is_unloaded:
                await asyncio.wait([asking], timeout=max(0.0, until - asyncio.get_running_loop().time()))
            present = self._answers.get(place)
        if present is None:
            return Context(DEFAULT_CONTEXT, "default")
        return Context(present.shown["tokens"], present.shown["source"])

    async def look(self, choice: ModelObject, key: Key) -> SizeJson:
        """Asks now: for a person who tests a model."""
        place = _place(choice)
        known = await known_size(*place)
        if known is not None:
            return {"tokens": known, "source": "known"}
        self._keep(place, await self._answer(choice, key))
        return self._answers[place].shown

    async def close(self) -> None:
        tasks = [task for task, _ in self._asking.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(
        self, place: Place, choice: ModelObject, key_for: Callable[[], Awaitable[Key]]
    ) -> tuple[asyncio.Task[None], float]:
        async def ask() -> None:
            try:
                self._keep(place, await self._answer(choice, await key_for()))
            except Exception:
                # Without the key, the run says why.
                self._keep(place, _Answer(None, True, clock.now()))
            finally:
                del self._asking[place]

        begun = asyncio.create_task(ask(), name="context size"), asyncio.get_running_loop().time() + self.wait_seconds
        self._asking[place] = begun
        return begun

    async def _answer(self, choice: ModelObject, key: Key) -> _Answer:
        listing = listing_at(choice.provider, choice.base_url, key.value, self._environ)
        if listing is None:
            return _Answer(None, False, clock.now())
        base = choice.base_url or local_url(choice.provider, self._environ)
        is_own = base is not None and choice.provider not in OWN_PROTOCOL
        try:
            async with asyncio.timeout(self.ask_seconds):
                client = self._clients.get(base or listing.url, key.value)
                size = await ask_size(client, listing, choice.name, is_own)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError):
            return _Answer(None, True, clock.now())
        return _Answer(size, False, clock.now())

    def _keep(self, place: Place, answer: _Answer) -> None:
        """A size that a model was loaded with stays until the server tells another one."""
        present = self._answers.pop(place, None)
        was_loaded = present is not None and present.size is not None and present.size.loaded
        if present is not None and was_loaded and (answer.size is None or answer.is_unloaded):
            answer = replace(answer, size=present.size)
        self._answers[place] = answer
        if len(self._answers) > _MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]


def _place(choice: ModelObject) -> Place:
    return choice.provider, choice.name, choice.base_url
