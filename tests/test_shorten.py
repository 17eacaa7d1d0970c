"""Results that are too long keep their structure (F5)."""

from __future__ import annotations

import base64
import random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.runs.calls.result import MAX_RESULT_CHARACTERS, plain
from majlis.shorten import describe_binary, shorten

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | _texts,
    lambda children: st.lists(children, max_size=30) | st.dictionaries(_texts, children, max_size=30),
    max_leaves=60,
)


def _length(value: Any) -> int:
    return len(orjson.dumps(value).decode())


@given(_values, st.integers(400, 3000))
def test_f5_any_json_fits_and_stays_json(value: Any, limit: int) -> None:
    found = shorten(value, limit)
    if _length(value) <= limit:
        assert found == value
    assert _length(found) <= limit
    assert type(found) is type(value)
    # Shortened further, it still fits.
    assert _length(shorten(found, 300)) <= 300


@given(_values, st.integers(-20, 400))
def test_f5_any_limit_ends(value: Any, limit: int) -> None:
    """Regression: a limit of a few characters made an endless loop, which froze the gateway."""
    found = shorten(value, limit)
    assert type(found) is type(value)
    assert _length(found) <= max(60, limit)


@pytest.mark.parametrize("limit", range(-3, 60))
def test_f5_a_text_is_cut_for_any_limit(limit: int) -> None:
    found = shorten("a" * 1_000, limit)
    assert _length(found) <= max(limit, 60)
    assert "characters left out" in found


@pytest.mark.parametrize("note", ["… ({} characters left out) …", "… {} more items", "… {} earlier items"])
def test_f5_a_forged_count_of_thousands_of_digits_is_text(note: str) -> None:
    forged = note.format("9" * 10_000)
    for value in (forged, [forged, "a"], ["a", forged], {"messages": [forged, "a" * 500]}):
        assert _length(shorten(value, 400)) <= 400


def test_f5_a_long_result_keeps_its_keys_and_says_what_is_missing() -> None:
    report = {"status": "ok", "log": "a" * 70_000, "rows": [{"n": n} for n in range(10_000)], "next": 7}
    found = plain(report)
    assert _length(found) <= MAX_RESULT_CHARACTERS
    assert list(found) == ["status", "log", "rows", "next"]
    assert (found["status"], found["next"]) == ("ok", 7)
    assert found["log"].startswith("aaa")
    assert found["log"].endswith("aaa")
    shown = found["log"].count("a") - "characters left out".count("a")
    assert f"… ({70_000 - shown} characters left out) …" in found["log"]
    assert found["rows"][:2] == [{"n": 0}, {"n": 1}]
    assert found["rows"][-1] == f"… {10_000 - len(found['rows']) + 1} more items"


def test_f5_a_list_of_messages_keeps_the_newest() -> None:
    """Regression: a consciousness that entered a space was shown its oldest messages and not the question."""
    history = [{"messageId": f"msg_{n}", "text": f"{n} " + "x" * 2_000} for n in range(50)]
    found = shorten({"success": True, "history": history, "totalMessages": 50}, 10_000)
    assert found["totalMessages"] == 50
    assert found["history"][-1] == history[-1]
    assert found["history"][0] == f"… {50 - len(found['history']) + 1} earlier items"
    again = shorten(found, 5_000)
    assert again["history"][0] == f"… {50 - len(again['history']) + 1} earlier items"
    assert again["history"][-1] == history[-1]


def test_f5_counts_of_an_earlier_shortening_add_up() -> None:
    text = "word " * 10_000
    once = shorten(text, 2_000)
    twice = shorten(once, 500)
    assert twice.count("left out") == 1
    left = int(twice.split("… (")[1].split(" ")[0])
    shown = twice.replace(f"… ({left} characters left out) …", "")
    assert left + len(shown) == len(text)


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: f"data:image/png;base64,{text}"])
def test_f5_binary_content_is_described(wrap: Any) -> None:
    picture = base64.b64encode(random.Random(1).randbytes(48_000)).decode()
    found = plain({"image": {"data": wrap(picture), "mimeType": "image/png"}})
    assert "48000 bytes, not shown]" in found["image"]["data"]
    assert found["image"]["mimeType"] == "image/png"


@pytest.mark.parametrize("text", ["ACGT" * 1_000, "قهوة" * 1_000, "some words " * 500, "def f(x):\n  return x\n" * 100])
def test_f5_long_text_is_not_taken_for_binary(text: str) -> None:
    assert describe_binary(text) is None
