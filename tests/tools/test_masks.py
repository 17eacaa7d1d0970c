"""J4: values that a schema marks as `writeOnly` are masked, even with a hostile schema."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.runs.calls.masks import MASK, hide, masked, secrets_in

SECRET: dict[str, Any] = {"type": "string", "writeOnly": True}


@pytest.mark.parametrize(
    ("schema", "given", "shown"),
    [
        pytest.param(
            {"properties": {"key": SECRET, "next": {"$ref": "#"}}},
            {"key": "abcd", "next": {"key": "efgh", "next": {"key": "ijkl"}}},
            {"key": MASK, "next": {"key": MASK, "next": {"key": MASK}}},
            id="a schema inside itself",
        ),
        pytest.param(
            {"properties": {"key": {"$ref": "#/$defs/a%20key~1"}}, "$defs": {"a key/": SECRET}},
            {"key": "abcd"},
            {"key": MASK},
            id="an encoded reference",
        ),
        pytest.param(
            {"properties": {"key": {"$ref": "#/$defs/all/0"}}, "$defs": {"all": [SECRET]}},
            {"key": "abcd"},
            {"key": MASK},
            id="a reference into a list",
        ),
        pytest.param(
            {"properties": {"one": {"$ref": "#/$defs/gone"}, "other": {"$ref": "https://example.com"}, "key": SECRET}},
            {"one": "abcd", "other": {"key": "efgh"}, "key": "ijkl", "name": "Sara"},
            {"one": MASK, "other": MASK, "key": MASK, "name": "Sara"},
            id="a reference that leads nowhere",
        ),
        pytest.param(
            {"properties": {"api_key": {"type": "string"}}, "patternProperties": {"_key$": SECRET}},
            {"api_key": "abcd", "my_key": "efgh"},
            {"api_key": MASK, "my_key": MASK},
            id="a pattern for a name that is listed",
        ),
        pytest.param(
            {"dependentSchemas": {"user": {"properties": {"key": SECRET}}}, "unevaluatedProperties": SECRET},
            {"user": "Sara", "key": "abcd"},
            {"user": MASK, "key": MASK},
            id="schemas that depend, and what is left",
        ),
        pytest.param(
            {"properties": {"keys": {"prefixItems": [{"type": "string"}], "unevaluatedItems": SECRET}}},
            {"keys": ["abcd", "efgh"]},
            {"keys": ["abcd", MASK]},
            id="the rest of a list",
        ),
        pytest.param(
            {"properties": {"keys": {"contains": SECRET}}}, {"keys": ["abcd"]}, {"keys": [MASK]}, id="one of a list"
        ),
        pytest.param(
            {"properties": 5, "allOf": "x", "anyOf": 3, "patternProperties": [], "prefixItems": {}, "$ref": 7},
            {"key": "abcd"},
            MASK,
            id="nonsense",
        ),
    ],
)
def test_j4_a_secret_is_hidden_wherever_the_schema_says_so(schema: Any, given: Any, shown: Any) -> None:
    assert masked(schema, given) == shown


def test_j4_a_schema_of_a_strangers_that_leads_back_to_itself_costs_no_time() -> None:
    """Regression: ten references to itself were followed to a depth of sixteen, and the gateway hung."""
    again = {"anyOf": [{"$ref": "#/$defs/again"}] * 10}
    schema = {"properties": {"a": {"$ref": "#/$defs/again"}, "key": SECRET}, "$defs": {"again": again}}
    assert masked(schema, {"a": ["abcd"] * 100, "key": "efgh"}) == {"a": ["abcd"] * 100, "key": MASK}


def test_j4_a_secret_is_hidden_in_every_form_in_which_it_is_repeated() -> None:
    """As JSON, in a URL, as a Python repr, and numbers anywhere."""
    given = {"key": 'pa"ss\nü w', "pin": 123456, "on": True}
    schema = {"properties": {name: {"writeOnly": True} for name in given}}
    secrets = secrets_in(schema, given)
    said = {
        "json": r"said pa\"ss\nü w", "ascii": r"pa\"ss\n\u00fc w", "url": "/?q=pa%22ss%0A%C3%BC%20w",
        "python": f"wrong: {given['key']!r}", "pin": 123456, "words": "pin 123456 is wrong", "on": True, "n": 1234567,
    }  # fmt: skip
    assert hide(secrets, said) == {
        "json": f"said {MASK}", "ascii": MASK, "url": f"/?q={MASK}", "python": f"wrong: '{MASK}'", "pin": MASK,
        "words": f"pin {MASK} is wrong", "on": True, "n": 1234567,
    }  # fmt: skip
