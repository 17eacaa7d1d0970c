"""Schemas whose references multiply. 28 definitions that each use the next one twice are 2^28 checks of one text."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.agents.config.validate import problem_with, schema_flaw
from tests.attacks.cpu_time import at_most
from tests.runs.house import House


def schema(defs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs, **more}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def chain(count: int, link: Any) -> dict[str, Any]:
    return {**{f"d{n}": link(ref(f"d{n + 1}")) for n in range(count)}, f"d{count}": {"type": "string"}}


BOMBS = {
    "each definition uses the next one twice": chain(28, lambda after: {"allOf": [after, after]}),
    "through alternatives": chain(20, lambda after: {"anyOf": [after, {"oneOf": [after, {"not": after}]}]}),
    "a definition that refers to itself": {"d0": {"allOf": [ref("d0")]}},
    "a circle of definitions": {"d0": {"if": ref("d1")}, "d1": {"else": ref("d0")}},
    "four times as much at every level": {"d0": {"allOf": [{"items": ref("d0"), "contains": ref("d0")}] * 2}},
    "leftovers of leftovers": chain(20, lambda after: {"allOf": [after], "unevaluatedProperties": False}),
    "a very long chain": chain(900, lambda after: {"allOf": [after]}),
    "many patterns for one name": chain(12, lambda after: {"allOf": [after, after], "patternProperties": {"a": {}}}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_g1_a_schema_that_multiplies_is_refused_when_it_is_saved(name: str) -> None:
    with at_most(3):
        flaw = schema_flaw(schema(BOMBS[name]))
    assert flaw is not None
    assert flaw.message == "expands to more than 5000 subschemas through $ref or nesting; make it smaller"


async def test_g1_an_admin_reads_why_a_config_is_refused(house: House) -> None:
    bomb = schema(BOMBS["each definition uses the next one twice"])
    tool = {"name": "look", "type": "static", "inputSchema": bomb, "execution": {"output": "ok"}}
    with at_most(10):
        refused = await house.owner.post("/api/agents", {"name": "Bot", "config": {"tools": [tool]}})
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["errors"] == [
        {
            "path": "tools.0.inputSchema",
            "message": "expands to more than 5000 subschemas through $ref or nesting; make it smaller",
        }
    ]


TREE = {
    "d0": {
        "type": "object",
        "properties": {"left": ref("d0"), "right": ref("d0"), "names": {"type": "array", "items": {"type": "string"}}},
        "additionalProperties": False,
    }
}
RULES = {
    "d0": {
        "oneOf": [
            {"required": ["all"], "properties": {"all": {"type": "array", "items": ref("d0")}}},
            {"required": ["any"], "properties": {"any": {"type": "array", "items": ref("d0")}}},
            {"required": ["name"], "properties": {"name": {"type": "string"}}},
        ]
    }
}


def nested(depth: int, key: str, end: Any) -> Any:
    return end if depth == 0 else {key: nested(depth - 1, key, end)}


def test_schemas_that_refer_to_themselves_still_work() -> None:
    """A tree, and rules that contain rules, are ordinary inputs. Rules may be nested less deep: they could multiply."""
    tree, rules = schema(TREE), schema(RULES)
    assert (schema_flaw(tree), schema_flaw(rules)) == (None, None)
    assert problem_with(tree, {"x": nested(40, "left", {"names": ["a"]})}) is None
    wrong = problem_with(tree, {"x": nested(3, "right", {"names": [1]})})
    assert wrong == (("x", "right", "right", "right", "names", 0), "should be a string")
    assert problem_with(rules, {"x": {"all": [{"any": [{"name": "a"}, {"name": "b"}]}, {"name": "c"}]}}) is None
    with at_most(3):
        found = problem_with(rules, {"x": nested(30, "all", [])})
    assert found is not None
    assert found.message == "should not be nested more than 16 levels deep"
