"""An agent config (J4-J6, K7, P6) that parses is valid in every part."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from majlis.agents.config.config import config_schema, dump_config, parse_config, patch_config
from majlis.agents.config.model import ModelObject
from majlis.agents.config.tools import BUILT_IN_TOOLS, HttpTool
from majlis.model_providers import PROVIDERS
from majlis.tools.builtin.turns import route
from majlis.tools.toolbox import built_in_tools
from tests.agents.configs import DEFAULTS, http


def test_an_empty_config_has_the_defaults_of_the_contract() -> None:
    text = json.dumps(dump_config(parse_config({})))
    assert text == json.dumps(DEFAULTS)


def test_a_config_in_full_is_kept_as_it_was_written() -> None:
    full = {
        **DEFAULTS,
        "instructions": "أهلاً\nBe brief.\t🙂",
        "model": {
            "provider": "openai",
            "name": "x",
            "baseUrl": "http://127.0.0.1:9000/v1",
            "apiKeyEnv": "MY_KEY",
            "settings": {"temperature": 0, "stopSequences": ["END"], "thinking": "low", "extraBody": {"mirostat": 2}},
        },
        "mind": "consciousness",
        "guard": False,
        "contextTokens": 8000,
        "vision": True,
        "timezone": "Asia/Baghdad",
        "tools": [
            {
                "name": "get_weather",
                "description": "Tells the weather.",
                "visible": True,
                "idempotent": True,
                "type": "http",
                "inputSchema": {
                    "type": "object",
                    "properties": {"city": {"$ref": "#/$defs/city"}},
                    "required": ["city"],
                    "$defs": {"city": {"type": "string", "pattern": "^[A-Z]"}},
                },
                "execution": {
                    "method": "POST",
                    "url": "https://api.example.com/v1/{{input.city}}?days=3",
                    "headers": {"Authorization": "Bearer ${env.WEATHER_KEY}", "Idempotency-Key": "{{ input.city }}"},
                    "query": {"limit": 5, "exact": True, "pageToken": "{{input.page}}"},
                    "body": {"city": "{{input.city}}", "deep": [1, None, {"token": "${env.T}"}]},
                    "timeoutSeconds": 10,
                    "maxBytes": 2048,
                },
            },
            {
                "name": "deploy",
                "description": "",
                "visible": False,
                "idempotent": False,
                "type": "python",
                "execution": {"function": "acme.tools:deploy"},
            },
            {
                "name": "ask",
                "description": "",
                "visible": False,
                "idempotent": False,
                "type": "space",
                "inputSchema": {"type": "object"},
                "ui": "approval",
                "execution": {"timeoutSeconds": 60},
            },
            {
                "name": "motto",
                "description": "",
                "visible": False,
                "idempotent": False,
                "type": "static",
                "inputSchema": {"type": "object"},
                "execution": {"output": None},
            },
        ],
        "mcp": [
            {"name": "wiki", "url": "https://mcp.example.com", "headers": {"X-Api-Key": "${env.WIKI}"}},
            {"name": "files", "command": "npx -y server-files '/tmp/a b'", "allowedTools": ["read", "files.list"]},
            {"name": "git", "command": ["uvx", "mcp-server-git"]},
        ],
        "heartbeat": {"everyMinutes": 30, "activeHours": {"from": "22:00", "to": "06:00"}, "timezone": "Europe/Berlin"},
    }
    config = parse_config(full)
    assert dump_config(config) == full
    assert [server.argv for server in config.mcp] == [
        (),
        ("npx", "-y", "server-files", "/tmp/a b"),
        ("uvx", "mcp-server-git"),
    ]


def test_fields_that_a_tool_leaves_out_get_their_defaults() -> None:
    config = parse_config({"tools": [http(), {"name": "ask", "type": "space", "ui": "choice"}]})
    tool, ask = config.tools
    assert isinstance(tool, HttpTool)
    assert (tool.execution.method, tool.execution.timeout_seconds, tool.execution.max_bytes) == ("GET", 30, 1 << 20)
    assert tool.input_schema == {"type": "object", "properties": {}}
    assert (ask.visible, ask.idempotent, ask.description) == (False, False, "")
    dumped: Any = dump_config(config)
    assert dumped["tools"][1]["execution"] == {}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_any_provider_of_the_model_library_can_be_named(provider: str) -> None:
    assert parse_config({"model": f"{provider}:vendor/model:v1"}).model == f"{provider}:vendor/model:v1"
    model = parse_config({"model": {"provider": provider, "name": "m"}}).model
    assert isinstance(model, ModelObject)
    assert model.provider == provider


def test_a_model_of_an_own_server_may_have_any_name() -> None:
    model = {"provider": "my-llama", "name": "x", "baseUrl": "http://127.0.0.1:9000/v1"}
    assert dump_config(parse_config({"model": model}))["model"] == {**model, "settings": {}}


def test_null_says_the_same_as_leaving_an_optional_setting_out() -> None:
    config = parse_config({"model": {"provider": "openai", "name": "x", "baseUrl": None}, "heartbeat": None})
    assert dump_config(config)["model"] == {"provider": "openai", "name": "x", "settings": {}}


def test_settings_of_another_mind_are_kept_so_that_the_mind_can_be_changed() -> None:
    config = parse_config({"mind": "roles", "waits": True, "layout": "classic"})
    assert patch_config(config, {"mind": "timeline"}).layout == "classic"


def test_a_config_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValueError, match="frozen"):
        parse_config({}).__setattr__("window", 5)


def test_the_schema_accepts_what_is_accepted_and_knows_every_name() -> None:
    schema = config_schema()
    validator = Draft202012Validator(schema)
    validator.validate({})
    validator.validate(DEFAULTS)
    assert not validator.is_valid({"limits": {"concurrent_runs": 5}})
    assert not validator.is_valid({"window": 1})
    properties: Any = schema["properties"]
    assert list(properties) == list(DEFAULTS)


def test_the_schema_can_live_inside_an_openapi_document() -> None:
    text = json.dumps(config_schema("#/components/schemas/{model}"))
    assert "#/components/schemas/Limits" in text
    assert "#/$defs/" not in text


def test_j4_no_tool_of_a_config_has_the_name_of_a_built_in_one() -> None:
    """Regression: `recall_cycles` was not listed, so a config could define a second tool with that name."""
    minds = {tool.name for mind in ("timeline", "consciousness", "roles") for tool in built_in_tools(mind)}
    assert minds | {route.name} == BUILT_IN_TOOLS
