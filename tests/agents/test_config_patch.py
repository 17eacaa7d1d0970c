"""A config is changed with a JSON Merge Patch (RFC 7396), and the result is validated like a new config."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.agents.config.config import dump_config, merge_patch, parse_config, patch_config
from majlis.errors import Invalid

MOTTO = {"name": "motto", "type": "static", "execution": {"output": "calm"}}
WEATHER = {"name": "weather", "type": "http", "execution": {"url": "https://example.com"}}


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_patch_does_what_the_rfc_shows(target: object, patch: object, result: object) -> None:
    assert merge_patch(target, patch) == result


def test_a_patch_merges_objects_and_null_puts_back_the_default() -> None:
    config = parse_config({"limits": {"steps": 3, "attempts": 7}, "window": 9, "heartbeat": {"everyMinutes": 5}})
    changed = patch_config(config, {"limits": {"steps": 4, "attempts": None}, "window": None, "heartbeat": None})
    assert (changed.limits.steps, changed.limits.attempts) == (4, 3)
    assert (changed.window, changed.heartbeat) == (50, None)


def test_a_patch_replaces_arrays_and_changes_nothing_else() -> None:
    config = parse_config({"instructions": "Be kind.", "tools": [MOTTO, WEATHER]})
    changed = patch_config(config, {"tools": [{**MOTTO, "name": "other"}]})
    assert [tool.name for tool in changed.tools] == ["other"]
    assert changed.instructions == "Be kind."
    assert [tool.name for tool in config.tools] == ["motto", "weather"]


def test_a_patch_goes_from_one_form_of_model_to_the_other_and_back() -> None:
    config = patch_config(parse_config({"model": "openai:x"}), {"model": {"provider": "groq", "name": "y"}})
    config = patch_config(config, {"model": {"name": "z", "settings": {"temperature": 1}, "apiKeyEnv": None}})
    assert dump_config(config)["model"] == {"provider": "groq", "name": "z", "settings": {"temperature": 1}}
    assert patch_config(config, {"model": None}).model == "demo"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"limits": {"steps": 0}}, "limits.steps"),
        ({"limits": 5}, "limits"),
        ({"colour": "red"}, "colour"),
        ({"instructions": "\x00"}, "instructions"),
        ({"model": {"provider": "openai"}}, "model.name"),
        ({"heartbeat": {"timezone": "UTC"}}, "heartbeat.everyMinutes"),
    ],
)
def test_a_patch_is_validated_like_a_whole_config(changes: dict[str, object], path: str) -> None:
    with pytest.raises(Invalid) as caught:
        patch_config(parse_config({}), changes)
    errors: Any = caught.value.details["errors"]
    assert [error["path"] for error in errors] == [path]
