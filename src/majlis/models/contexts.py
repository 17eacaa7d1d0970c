"""How many tokens a request to a model may have (F1), and who says so.

The table of known models comes first. It does not have servers that people run themselves: these are asked, in the
background. A run waits for the answer of a server that has not been asked yet, but not for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import cast

import httpx

from majlis import clock
from majlis.agents.config.model import ModelObject
from majlis.model_providers import OWN_PROTOCOL, Key, local_url
from majlis.models.chat.client import Clients
from majlis.models.connect.list_models import listing_at
from majlis.models.connect.shapes import SizeJson
from majlis.models.port import Context, KnownContext
from majlis.models.server_sizes import Size, ask_size
from majlis.models.sizes_and_prices import DEFAULT_CONTEXT, known_size

_WAIT_SECONDS = 1.0
_ASK_SECONDS = 5.0
_MINUTE = 60_000
# How old an answer may be. One about a model that was not loaded yet is asked for again at the next run.
_KEPT, _KEPT_FAILURE, _KEPT_UNLOADED = 10 * _MINUTE, _MINUTE, 2_000
_MAX_ANSWERS = 1000

_DEFAULT = Context(DEFAULT_CONTEXT, "default")

Place = tuple[str, str, str | None]


@dataclass(slots=True)
class _Answered(KnownContext):
    """`size` is what the server said."""

    size: Size | None = None

    @property
    def is_unloaded(self) -> bool:
        return self.size is not None and not self.size.loaded


class Contexts:
    def __init__(self, clients: Clients, environ: Mapping[str, str]) -> None:
        self._clients = clients
        self._environ = environ
        self._answers: dict[Place, _Answered] = {}
        # With the time after which no run waits for it any more.
        self._asking: dict[Place, tuple[asyncio.Task[None], float]] = {}
        self.wait_seconds = _WAIT_SECONDS
        self.ask_seconds = _ASK_SECONDS

    async def of(self, choice: ModelObject, key_for: Callable[[], Awaitable[Key]]) -> KnownContext:
        """Never fails: a model whose server cannot be asked has the default."""
        place = _place(choice)
        present = self._answers.get(place) or await self._find_in_table(place)
        if present is None or clock.now() >= present.until:
            asking, until = self._asking.get(place) or self._begin(place, choice, key_for)
            if present is None or present.is_unloaded:
                await asyncio.wait([asking], timeout=max(0.0, until - asyncio.get_running_loop().time()))
            present = self._answers.get(place)
        return present or KnownContext(_DEFAULT, until=0)

    async def look(self, choice: ModelObject, key: Key) -> SizeJson:
        """Asks now: for a person who tests a model."""
        place = _place(choice)
        if await self._find_in_table(place) is None:
            await self._ask(place, choice, key)
        return _shown(self._answers[place].context)

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

    async def _find_in_table(self, place: Place) -> _Answered | None:
        known = await known_size(*place)
        if known is None:
            return None
        return self._put(place, _Answered(Context(known, "known")))

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
        present = self._answers.get(place)
        if (size is None or not size.loaded) and present is not None and present.size is not None:
            size = present.size if present.size.loaded else size
        if size is not None and not size.loaded:
            millis = _KEPT_UNLOADED
        self._put(place, _Answered(_context(size), clock.now() + millis, size))

    def _put(self, place: Place, new: _Answered) -> _Answered:
        """Changes an earlier answer in place, because runs may hold it."""
        answered = self._answers.pop(place, new)
        answered.context, answered.until, answered.size = new.context, new.until, new.size
        self._answers[place] = answered
        if len(self._answers) > _MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        return answered


def _context(size: Size | None) -> Context:
    if size is None or (not size.loaded and size.tokens > DEFAULT_CONTEXT):
        return _DEFAULT
    return Context(size.tokens, "server")


def _shown(context: Context) -> SizeJson:
    return cast("SizeJson", {"tokens": context.tokens, "source": context.source})


def _place(choice: ModelObject) -> Place:
    return choice.provider, choice.name, choice.base_url
