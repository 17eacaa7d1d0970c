"""Escaping text for a terminal, and reading times."""

from __future__ import annotations

import json
import unicodedata

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from majlis.cli.terminal import safe, safe_line
from majlis.cli.token import moment_from_now
from majlis.clock import now


@given(st.text())
def test_nothing_that_acts_on_a_terminal_is_left(text: str) -> None:
    for character in safe(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp"), repr(character)
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )
    assert not {"\n", "\t"} & set(safe_line(text))


@given(st.text(st.characters(codec="utf-8")))
def test_json_made_safe_is_the_same_json(text: str) -> None:
    assert json.loads(safe(json.dumps(text, ensure_ascii=False))) == text


def test_text_of_all_scripts_and_joined_emoji_stay_as_they_are() -> None:
    text = "مرحبا بالعالم, می‌خواهم, שלום, 你好, 🧑‍🎨 👩🏽‍🚀 café\n\tend"
    assert safe(text) == text


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("45m", 2700), ("12h", 43_200), ("30d", 2_592_000), ("1w", 604_800)]
)
@pytest.mark.usefixtures("standing_clock")
def test_times_from_now_are_read_as_people_write_them(text: str, seconds: int) -> None:
    assert moment_from_now(text) == now() + seconds * 1000


@pytest.mark.parametrize("text", ["", "d", "-1d", "0h", "1.5d", "1y", "tomorrow", "2030-01-01", "2000-01-01T00:00:00Z"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        moment_from_now(text)
