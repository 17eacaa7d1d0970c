"""E6: what a request costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from majlis.clock import now
from majlis.models.port import Usage
from majlis.models.sizes_and_prices import Prices
from majlis.settings import ModelPrice

MILLION = Usage(1_000_000, 400_000, 100_000)


async def test_e6_a_known_model_has_a_price_without_any_setting() -> None:
    prices = Prices()
    await prices.load("openai:gpt-5.2")
    cost = prices.cost("openai:gpt-5.2", MILLION, now())
    assert cost is not None
    assert 0 < cost < 100
    # Tokens from the provider's cache are cheaper.
    uncached = prices.cost("openai:gpt-5.2", Usage(1_000_000, 0, 100_000), now())
    assert uncached is not None
    assert cost < uncached


async def test_e6_model_prices_override_the_table() -> None:
    prices = Prices({"openai:gpt-5.2": ModelPrice(input=1, cached=0.5, output=10)})
    await prices.load("openai:gpt-5.2")
    assert prices.cost("openai:gpt-5.2", MILLION, now()) == pytest.approx(1.8)


@pytest.mark.parametrize("model", ["openai:no-such-model", "ollama:qwen3:8b", "my-server:gpt-5.2"])
async def test_e6_an_unknown_model_has_no_cost(model: str) -> None:
    prices = Prices()
    await prices.load(model)
    assert prices.cost(model, MILLION, now()) is None


async def test_e6_the_demo_costs_nothing_unless_a_model_stands_behind_it() -> None:
    assert Prices().cost("demo", MILLION, now()) == 0
    prices = Prices(demo="openai:gpt-5.2")
    await prices.load("demo")
    assert (prices.cost("demo", MILLION, now()) or 0) > 0


def test_e6_prices_are_imported_only_when_a_price_is_needed() -> None:
    code = "import sys, majlis.gateway; print([name for name in sys.modules if name.startswith('genai_prices')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
