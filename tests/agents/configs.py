"""Shared by the tests of configs: parts of configs, and the problems of one."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.agents.config.config import parse_config
from majlis.errors import Invalid

LIMITS = {
    "concurrentRuns": 5,
    "steps": 20,
    "tokensPerRun": 200000,
    "runSeconds": 1800,
    "waitSeconds": 300,
    "waitsPerRun": 10,
    "waitingRuns": 5,
    "toolWaitSeconds": 600,
    "attempts": 3,
}
DEFAULTS = {
    "instructions": "",
    "model": "demo",
    "mind": "timeline",
    "actsFor": "asker",
    "waits": True,
    "speak": "tool",
    "guard": True,
    "layout": "stable",
    "window": 50,
    "contextTokens": None,
    "vision": None,
    "timezone": "UTC",
    "projection": "portable",
    "tools": [],
    "mcp": [],
    "policy": [],
    "limits": LIMITS,
    "consciousness": {"maxTokens": 100000, "minRecentCycles": 10},
    "addableBy": None,
    "acceptsServices": "any",
    "heartbeat": None,
}


def problems(value: object) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as caught:
        parse_config(value)
    assert (caught.value.code, caught.value.status) == ("invalid_config", 422)
    errors: Any = caught.value.details["errors"]
    return [(error["path"], error["message"]) for error in errors]


def paths(value: object) -> list[str]:
    return [path for path, _ in problems(value)]


def static(**given: object) -> dict[str, object]:
    return {"name": "motto", "type": "static", "execution": {"output": "calm"}, **given}


def http(**execution: object) -> dict[str, object]:
    return {"name": "weather", "type": "http", "execution": {"url": "https://example.com", **execution}}


def schema(**given: object) -> dict[str, object]:
    return {"tools": [static(inputSchema={"type": "object", **given})]}
