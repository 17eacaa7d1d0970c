"""J4: any tool result becomes plain JSON of limited size, or an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.errors import MajlisError
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS, plain


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
        ),
        max_leaves=30,
    )
)
def test_any_value_becomes_json_that_every_parser_reads(value: Any) -> None:
    copy = plain(value)
    assert json.loads(orjson.dumps(copy)) == json.loads(json.dumps(copy)) == copy
    assert "\0" not in json.dumps(copy, ensure_ascii=False)


def test_harmless_values_stay_the_same() -> None:
    value = {"a": [1, 2.5, True, None, "ü 😀 \n"], "b": {"c": -(2**63)}}
    assert plain(value) == value


class Array(list[Any]):
    """Counts how many of its children were read."""

    looked_at = 0

    def __iter__(self) -> Iterator[Any]:
        for child in super().__iter__():
            self.looked_at += 1
            yield child


class Object(dict[str, Any]):
    looked_at = 0

    def items(self) -> Any:
        for each in super().items():
            self.looked_at += 1
            yield each


@pytest.mark.parametrize(
    "value",
    [Array(["y" * 100] * 500_000), Object({str(n): n for n in range(300_000)}), Array([[]] * 1_000_000)],
    ids=["texts", "keys", "arrays"],
)
def test_a_million_parts_cost_no_more_than_a_long_result(value: Array | Object) -> None:
    assert len(orjson.dumps(plain(value)).decode()) <= MAX_RESULT_CHARACTERS
    assert value.looked_at <= MAX_RESULT_CHARACTERS // 2


@pytest.mark.parametrize("value", ["x" * 50_000_000, ["y" * 100] * 500_000, [[]] * 1_000_000])
def test_fifty_megabytes_are_cut_to_a_long_result(value: Any) -> None:
    text = orjson.dumps(plain(value)).decode()
    assert len(text) <= MAX_RESULT_CHARACTERS
    assert re.search(r"… \(?\d+ (characters left out|more items)", text)


def test_very_deep_values_are_left_out() -> None:
    value: Any = "bottom"
    for _ in range(500):
        value = {"a": [value]}
    assert "nested too deep" in json.dumps(plain(value))
    circle: list[Any] = []
    circle.append(circle)
    assert "nested too deep" in json.dumps(plain(circle))


def test_halves_of_characters_and_nul_are_replaced_and_pairs_joined() -> None:
    assert plain({"\ud800": "a\0b\udfff", "pair": "\ud83d\ude00"}) == {"\ufffd": "a\ufffdb\ufffd", "pair": "😀"}
    assert plain([10**30, 10**100_000, float("nan")]) == [str(10**30), "a number of 332193 bits", "nan"]


def test_a_value_that_is_not_json_is_an_error() -> None:
    with pytest.raises(MajlisError, match="contains a set"):
        plain({"a": {1, 2}})
