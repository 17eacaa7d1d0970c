"""How many tokens a request to a model may have (F1), and who says so.

The table of known models comes first. It does not have servers that people run themselves: these are asked, in the
background. A run waits for the answer of a server that has not been asked yet, but not for long.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

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

_DEFAULT: SizeJson = {"tokens": DEFAULT_CONTEXT, "source": "default"}

Place = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class Answered:
    """`shown` holds until a time, in milliseconds. `size` is what the server said."""

    shown: SizeJson
    until: float
    size: Size | None = None

    @property
    def is_unloaded(self) -> bool:
        return self.size is not None and not self.size.loaded


class Contexts:
    def __init__(self, clients: Clients, environ: Mapping[str, str]) -> None:
        self._clients = clients
        self._environ = environ
        self.answers: dict[Place, Answered] = {}
        # With the time after which no run waits for it any more.
        self._asking: dict[Place, tuple[asyncio.Task[None], float]] = {}
        self.wait_seconds = _WAIT_SECONDS
        self.ask_seconds = _ASK_SECONDS

    async def of(self, choice: ModelObject, key_for: Callable[[], Awaitable[Key]]) -> Context:
        """Never fails: a model whose server cannot be asked has the default."""
        place = _place(choice)
        present = self.answers.get(place) or await self._find_in_table(place)
        if present is None or clock.now() >= present.until:
            asking, until = self._asking.get(place) or self._begin(place, choice, key_for)
            if present is None or present.is_unloaded:
                await asyncio.wait([asking], timeout=max(0.0, until - asyncio.get_running_loop().time()))
            present = self.answers.get(place)
        shown = present.shown if present is not None else _DEFAULT
        return Context(shown["tokens"], shown["source"])

    async def look(self, choice: ModelObject, key: Key) -> SizeJson:
        """Asks now: for a person who tests a model."""
        place = _place(choice)
        if await self._find_in_table(place) is None:
            await self._ask(place, choice, key)
        return self.answers[place].shown

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
                await self._ask(place, choice, await key_for())
            except Exception:
                # Without the key, the run says why.
                self._keep(place, None, _KEPT_FAILURE)
            finally:
                del self._asking[place]

        begun = asyncio.create_task(ask(), name="context size"), asyncio.get_running_loop().time() + self.wait_seconds
        self._asking[place] = begun
        return begun

    async def _find_in_table(self, place: Place) -> Answered | None:
        known = await known_size(*place)
        if known is None:
            return None
        return self._put(place, Answered({"tokens": known, "source": "known"}, math.inf))

    async def _ask(self, place: Place, choice: ModelObject, key: Key) -> None:
        listing = listing_at(choice.provider, choice.base_url, key.value, self._environ)
        if listing is None:
            self._keep(place, None, _KEPT)
            return
        base = choice.base_url or local_url(choice.provider, self._environ)
        is_own = base is not None and choice.provider not in OWN_PROTOCOL
        try:
            async with asyncio.timeout(self.ask_seconds):
                client = self._clients.get(base or listing.url, key.value)
                size = await ask_size(client, listing, choice.name, is_own)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError):
            self._keep(place, None, _KEPT_FAILURE)
        else:
            self._keep(place, size, _KEPT)

    def _keep(self, place: Place, size: Size | None, millis: int) -> None:
        """A size that a model was loaded with stays until the server tells another one."""
        present = self.answers.get(place)
        if (size is None or not size.loaded) and present is not None and present.size is not None:
            size = present.size if present.size.loaded else size
        if size is not None and not size.loaded:
            millis = _KEPT_UNLOADED
        self._put(place, Answered(_shown(size), clock.now() + millis, size))

    def _put(self, place: Place, answered: Answered) -> Answered:
        self.answers.pop(place, None)
        self.answers[place] = answered
        if len(self.answers) > _MAX_ANSWERS:
            del self.answers[next(iter(self.answers))]
        return answered


def _shown(size: Size | None) -> SizeJson:
    if size is None or (not size.loaded and size.tokens > DEFAULT_CONTEXT):
        return _DEFAULT
    return {"tokens": size.tokens, "source": "server"}


def _place(choice: ModelObject) -> Place:
    return choice.provider, choice.name, choice.base_url
