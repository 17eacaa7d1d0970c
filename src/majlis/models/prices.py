"""Prices of model requests in USD (E6): `model_prices` first, then the table that comes with `genai-prices`.

The package is asked for the price at the time of the request, and never fetches prices from the network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from majlis.agents.config.model import DEMO
from majlis.lazy_import import import_alone
from majlis.models.port import Usage


class Price(Protocol):
    def of(self, input: int, cached: int, output: int) -> float: ...


class Prices:
    """`own` are the prices of the settings, by `provider:name`. `demo` is the model behind the name `demo`."""

    def __init__(self, own: Mapping[str, Price] | None = None, demo: str = DEMO) -> None:
        self.own = own or {}
        self._demo = demo
        self._package: Any = None

    async def load(self, model: str) -> None:
        """Before the first request of a model: importing the package takes 0.4 s, so it happens in a thread."""
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
            return None
        return float(found.total_price)
