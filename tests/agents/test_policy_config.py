"""J4, J5 in a config: invalid policies and interactive tools are refused with the path of the problem."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.agents.config.config import dump_config, parse_config
from majlis.agents.config.policy import MAX_RULES
from majlis.agents.config.tools import SpaceTool
from majlis.errors import Invalid

SECRET = {"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}}


def asking(ui: str, **more: Any) -> dict[str, Any]:
    return {"tools": [{"name": "ask", "type": "space", "ui": ui, **more}]}


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"policy": [{"tools": "deploy*", "do": "maybe"}]}, "policy.0.do"),
        ({"policy": [{"tools": "a", "do": "ask"}, {"tools": "deploy now", "do": "ask"}]}, "policy.1.tools"),
        ({"policy": [{"tools": "a", "do": "ask", "who": "Sara"}]}, "policy.0.who"),
        ({"policy": [{"do": "ask"}]}, "policy.0.tools"),
        ({"policy": {"deploy": "ask"}}, "policy"),
        ({"policy": [{"tools": "a", "do": "ask"}] * (MAX_RULES + 1)}, "policy"),
        (asking("approval", execution={"options": ["a"]}), "tools.0.execution.options"),
        (asking("choice", execution={"options": []}), "tools.0.execution.options"),
        (asking("choice", execution={"resultSchema": {"type": "object"}}), "tools.0.execution.resultSchema"),
        (asking("form", execution={"resultSchema": {"type": "string"}}), "tools.0.execution.resultSchema.type"),
        (asking("form", execution={"resultSchema": SECRET}), "tools.0.execution.resultSchema.properties.pin.writeOnly"),
        (asking("form", inputSchema=SECRET), "tools.0.inputSchema.properties.pin.writeOnly"),
    ],
)
def test_every_problem_has_its_path(config: dict[str, Any], path: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_config(config)
    errors: Any = refused.value.details["errors"]
    assert [error["path"] for error in errors] == [path]


def test_a_policy_is_kept_as_it_was_written() -> None:
    rules = [{"tools": "deploy_test", "do": "allow"}, {"tools": "Deploy*", "do": "ask"}, {"tools": "?", "do": "deny"}]
    assert dump_config(parse_config({"policy": rules}))["policy"] == rules


def test_a_form_without_a_schema_of_its_own_asks_for_what_its_input_names() -> None:
    given = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    [tool] = parse_config(asking("form", inputSchema=given)).tools
    assert isinstance(tool, SpaceTool)
    assert tool.answer_schema({}) == given
    # The model may leave fields to the people who answer.
    assert "required" not in tool.model_schema
    [free] = parse_config(asking("form")).tools
    assert isinstance(free, SpaceTool)
    assert free.answer_schema({}) == {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 16_000}},
        "required": ["text"],
        "additionalProperties": False,
    }
