"""Properties of every config: dumping loses nothing, and no input crashes the parser."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from majlis.agents.config.config import AgentConfig, config_schema, dump_config, parse_config, patch_config
from majlis.agents.config.http import HttpExecution
from majlis.agents.config.tools import HttpTool
from majlis.errors import Invalid

Strategy = st.SearchStrategy[Any]

_text = st.text('ab "\\{}$#/~é\u0639\U0001f642\n\t', max_size=20)
_names = st.text("aZ9_-", min_size=1, max_size=20).map("my_".__add__)
_json: Strategy = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_timezones = st.sampled_from(["UTC", "Asia/Baghdad", "Europe/Berlin", "America/Argentina/Ushuaia"])
_schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(_text, st.sampled_from([{"type": "string"}, {"enum": [1, None]}, {}, True])),
        "required": st.lists(_text, unique=True, max_size=3),
        "additionalProperties": st.booleans(),
        "description": _text,
    },
)


def _name_of(part: dict[str, str]) -> str:
    return part["name"].casefold()


def configs() -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "instructions": _text,
            "model": st.sampled_from(["demo", "openai:gpt-5.2", "bedrock:us.anthropic.x-v1:0"]) | _model_objects(),
            "mind": st.sampled_from(["timeline", "consciousness", "roles"]),
            "waits": st.booleans(),
            "speak": st.sampled_from(["tool", "text"]),
            "layout": st.sampled_from(["stable", "classic"]),
            "window": st.integers(2, 500),
            "timezone": _timezones,
            "projection": st.sampled_from(["portable", "seed"]),
            "tools": st.lists(_tools(), max_size=3, unique_by=_name_of),
            "mcp": st.lists(_servers(), max_size=3, unique_by=_name_of),
            "limits": st.dictionaries(st.sampled_from(["steps", "attempts", "waitSeconds"]), st.integers(1, 20)),
            "consciousness": st.fixed_dictionaries({}, optional={"maxTokens": st.integers(1, 10**7)}),
            "heartbeat": st.none() | _heartbeats(),
        },
    )


def _model_objects() -> Strategy:
    return st.fixed_dictionaries(
        {"provider": st.sampled_from(["openai", "ollama", "gateway/groq"]), "name": _names},
        optional={
            "baseUrl": st.sampled_from(["http://127.0.0.1:9000/v1", "https://[::1]:8443"]),
            "apiKeyEnv": st.sampled_from(["MY_KEY", "my_key_2"]),
            "settings": st.fixed_dictionaries(
                {},
                optional={
                    "temperature": st.integers(0, 2) | st.floats(0, 2),
                    "maxTokens": st.integers(1, 4096),
                    "thinking": st.booleans() | st.just("high"),
                    "stopSequences": st.lists(_text.filter(bool), max_size=3),
                    "extraBody": st.dictionaries(_text, _json, max_size=3),
                },
            ),
        },
    )


def _tools() -> Strategy:
    shared = {"description": _text, "visible": st.booleans(), "idempotent": st.booleans(), "inputSchema": _schemas}
    static = {"type": st.just("static"), "execution": st.fixed_dictionaries({"output": _json})}
    space = {"type": st.just("space"), "ui": st.sampled_from(["approval", "choice", "form"])}
    python = {"type": st.just("python"), "execution": st.just({"function": "acme.tools:run"})}
    http = {"type": st.just("http"), "execution": _requests()}
    kinds = (static, space, python, http)
    return st.one_of([st.fixed_dictionaries({"name": _names, **kind}, optional=shared) for kind in kinds])


def _requests() -> Strategy:
    return st.fixed_dictionaries(
        {"url": st.sampled_from(["https://example.com", "http://example.com:81/{{input.a}}?b=${env.B}"])},
        optional={
            "method": st.sampled_from(["GET", "POST", "DELETE"]),
            "headers": st.just({"Authorization": "Bearer ${env.KEY}", "Accept": "*/*"}),
            "query": st.dictionaries(st.sampled_from(["q", "page"]), st.sampled_from([5, True, 0.5, "{{input.q}}"])),
            "body": st.sampled_from(["{{input}}", {"a": ["{{ input.a }}", 1, None]}, 0, [], False]),
            "timeoutSeconds": st.integers(1, 600),
        },
    )


def _servers() -> Strategy:
    tools = {"allowedTools": st.lists(_text.filter(bool), max_size=3, unique=True)}
    remote = st.fixed_dictionaries(
        {"name": _names, "url": st.just("https://mcp.example.com/x?v=1")},
        optional={**tools, "headers": st.just({"X-Api-Key": "${env.KEY}"})},
    )
    commands = st.sampled_from(["npx -y server", ["uvx", "server", ""]])
    return remote | st.fixed_dictionaries({"name": _names, "command": commands}, optional=tools)


def _heartbeats() -> Strategy:
    return st.fixed_dictionaries(
        {"everyMinutes": st.integers(1, 10080)},
        optional={
            "activeHours": st.sampled_from([{"from": "09:00", "to": "18:00"}, {"from": "22:00", "to": "06:00"}]),
            "timezone": _timezones,
        },
    )


hostile_text = st.text("ab.\x00\x1b\x85\ud800\udfff\ufffe\U0001f642{$[(", max_size=8)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile_text,
    lambda inner: st.lists(inner) | st.dictionaries(hostile_text, inner),
)
known_names = st.sampled_from(
    [field.alias or "" for model in (AgentConfig, HttpTool, HttpExecution) for field in model.model_fields.values()]
)
near_misses = st.recursive(
    anything | st.sampled_from(["http", "space", "object", "#", "{{", "${env.A}", "https://[", "openai:", "demo"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(known_names | hostile_text, inner, max_size=5),
)


@given(configs())
def test_a_dumped_config_is_parsed_to_the_same_config(value: dict[str, object]) -> None:
    config = parse_config(value)
    dumped = json.loads(json.dumps(dump_config(config)))
    assert parse_config(dumped) == config
    assert dump_config(parse_config(dumped)) == dumped
    assert Draft202012Validator(config_schema()).is_valid(dumped)


@given(configs(), configs())
def test_patching_with_a_whole_config_gives_that_config(one: dict[str, object], other: dict[str, object]) -> None:
    """Without model and heartbeat: objects are merged, and a patch cannot set a null in an `extraBody`."""
    left_out: dict[str, object] = {"model": None, "heartbeat": None}
    bare, wanted = patch_config(parse_config(one), left_out), patch_config(parse_config(other), left_out)
    assert patch_config(bare, dump_config(wanted)) == wanted


@given(anything | near_misses | st.dictionaries(known_names, near_misses))
def test_no_json_crashes_the_parser(value: object) -> None:
    try:
        config = parse_config(value)
    except Invalid as error:
        json.dumps(error.details, ensure_ascii=False).encode()
    else:
        assert parse_config(dump_config(config)) == config


@given(configs(), st.data())
def test_no_damaged_config_crashes_the_parser(value: dict[str, object], data: st.DataObject) -> None:
    damaged: Any = json.loads(json.dumps(value))
    spot: Any = damaged
    while isinstance(spot, dict | list) and spot:
        key = data.draw(st.sampled_from(sorted(spot) if isinstance(spot, dict) else range(len(spot))))
        if not isinstance(spot[key], dict | list) or data.draw(st.booleans()):
            spot[key] = data.draw(near_misses)
            break
        spot = spot[key]
    with suppress(Invalid):
        parse_config(damaged)
