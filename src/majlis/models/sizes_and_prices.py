"""How many tokens a model can read (F1), and its price (E6).

They come from the tables of the package `genai-prices`. It is loaded when it is first needed, and fetches nothing from
the network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from majlis.agents.config.model import DEMO
from majlis.lazy_import import import_alone
from majlis.models.port import Usage

DEFAULT_CONTEXT: Final = 32_000
# A request with fewer tokens has no room for what an agent needs.
MIN_CONTEXT: Final = 4_000
# Where the table names a provider differently.
_TABLE_NAMES = {"google-cloud": "google", "xai": "x-ai", "openai-chat": "openai", "openai-responses": "openai"}
# By provider, name and address.
_sizes: dict[tuple[str, str, str | None], int | None] = {}
_MAX_SIZES = 1000


async def known_size(provider: str, name: str, url: str | None) -> int | None:
    """The context size in tokens, from the table. None for a server at an address that the table does not know."""
    key = provider, name, url
    if key not in _sizes:
        if len(_sizes) >= _MAX_SIZES:
            _sizes.clear()
        _sizes[key] = await asyncio.to_thread(_look_up, *key)
    return _sizes[key]


def _look_up(provider: str, name: str, url: str | None) -> int | None:
    """A server at another address may have any model under any name, so the address decides."""
    table = import_alone("genai_prices.data_snapshot").get_snapshot()
    known = None if url else _TABLE_NAMES.get(provider, provider)
    try:
        _, model = table.find_provider_model(name, None, known, url)
    except LookupError:
        return None
    found: int | None = model.context_window
    return found


class Price(Protocol):
    def of(self, input: int, cached: int, output: int) -> float: ...


class Prices:
    """Prices in USD at the time of a request. Those of the settings come first: `own`, by `provider:name`. `demo` is
    the model behind the name `demo`."""

    def __init__(self, own: Mapping[str, Price] | None = None, demo: str = DEMO) -> None:
        self.own = own or {}
        # Models that the table does not have, by `provider:name`. A request to them has no price.
        self.unknown: set[str] = set()
        self._demo = demo
        self._package: Any = None

    async def load(self, model: str) -> None:
        """Call it before the first request to a model: importing the package takes 0.4 s, so it happens in a thread."""
        if self._package is None and self._named(model) not in (DEMO, *self.own):
            self._package = await asyncio.to_thread(import_alone, "genai_prices")

    def cost(self, model: str, usage: Usage, at: int) -> float | None:
        """None if the price is unknown. `at` is when the request was made, in milliseconds."""
        model = self._named(model)
        if model in self.own:
            return self.own[model].of(usage.input, usage.cached, usage.output)
        if model == DEMO:
            return 0.0
        return self._looked_up(model, usage, at) if self._package is not None else None

    def _named(self, model: str) -> str:
        return self._demo if model == DEMO else model

    def _looked_up(self, model: str, usage: Usage, at: int) -> float | None:
        provider, _, name = model.partition(":")
        spent = self._package.Usage(
            input_tokens=usage.input, cache_read_tokens=usage.cached, output_tokens=usage.output
        )
        asked_at = datetime.fromtimestamp(at / 1000, UTC)
        try:
            found = self._package.calc_price(spent, name, provider_id=provider, genai_request_timestamp=asked_at)
        except LookupError:
            if len(self.unknown) < _MAX_SIZES:
                self.unknown.add(model)
            return None
        return float(found.total_price)
