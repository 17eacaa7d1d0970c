"""The estimate of tokens, and the sizes of known models (F1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.models.estimate_tokens import estimate, estimate_turns
from majlis.models.port import Call, Result, Said, System, Turn, User, surely_fits
from majlis.models.sizes_and_prices import known_size
from tests.models.token_samples import SAMPLES


@pytest.mark.parametrize("kind", SAMPLES)
def test_f1_the_estimate_is_within_a_tenth(kind: str) -> None:
    text, tokens = SAMPLES[kind]
    assert estimate(text) == pytest.approx(tokens, rel=0.1)


def test_f1_every_part_of_a_turn_counts() -> None:
    long = "word " * 1000
    turns: list[Turn] = [
        System(long),
        User((long, long)),
        Said(long, (Call("c", "tool", long),)),
        Result("c", "tool", long),
    ]
    assert estimate_turns(turns) == pytest.approx(6 * estimate(long), rel=0.02)
    assert not surely_fits(turns, 6 * estimate(long))
    assert surely_fits(turns, 60 * estimate(long))


@given(st.lists(st.text(st.sampled_from("a0.é咖☕ \n"), max_size=40), max_size=8), st.integers(0, 400))
def test_f1_a_text_that_surely_fits_is_within_the_estimate(texts: list[str], room: int) -> None:
    """Regression: code and Chinese have more than half a token a character."""
    turns = [Said(text, (Call("c", text, text),)) for text in texts] + [Result("c", "t", text) for text in texts]
    assert not surely_fits(turns, room) or estimate_turns(turns) <= room


@pytest.mark.parametrize("densest", ["a0", "☕0", "咖0", ".0", "é", "\n0"])
def test_f1_the_densest_text_does_not_surely_fit(densest: str) -> None:
    text = densest * 1000
    assert not surely_fits([User((text,))], estimate(text))


async def test_f1_the_context_of_known_models_comes_from_the_table() -> None:
    assert await known_size("openai", "gpt-5.2", None) == 400_000
    assert await known_size("anthropic", "claude-sonnet-4-5", None) in (200_000, 1_000_000)
    assert await known_size("ollama", "qwen3:8b", None) is None
    assert await known_size("openai", "gpt-5.2", "http://127.0.0.1:9000/v1") is None
