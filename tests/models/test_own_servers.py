"""Servers that people run themselves: usual addresses, protocols, keys and hints (G6, J7)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from majlis.agents.config.model import ModelChoice
from majlis.cli.agent.files import model_of
from majlis.model_providers import LOCAL_SERVERS, PROVIDERS, known_providers, local_url, meant_provider
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.port import ModelFailed
from tests.model_server import ModelServer, Reply, say, sequence
from tests.models.prompts import answer, ask

choices: TypeAdapter[Any] = TypeAdapter(ModelChoice)

_EVENTS = (
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good day"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
)
MESSAGES = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _EVENTS).encode()


def opened(environ: dict[str, str], **guard: Any) -> Models:
    return Models(environ, guard=ModelGuard(environ=environ, **guard))


def choice(given: Any) -> Any:
    return choices.validate_json(json.dumps(given))


@pytest.mark.parametrize("provider", LOCAL_SERVERS)
async def test_a_local_server_is_asked_at_its_address_without_a_key(provider: str) -> None:
    assert local_url(provider, {}) == LOCAL_SERVERS[provider]
    async with ModelServer(sequence(say("x"))) as server:
        models = opened({f"{provider.upper()}_BASE_URL": server.base_url})
        await answer(models.get(choice(f"{provider}:qwen3:8b")))
        await models.close()
    [asked] = server.asked
    assert asked.body["model"] == "qwen3:8b"
    assert "authorization" not in asked.headers


async def test_anthropic_with_a_base_url_speaks_its_own_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """G6: the keys of the environment do not go to another host."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "env-key-0123456789")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "env-token-0123456789")
    async with ModelServer(sequence(Reply(raw=MESSAGES), Reply(raw=MESSAGES))) as server:
        models = opened({"TEAM_KEY": "team-key"}, hosts=["127.0.0.1"], env=["TEAM_KEY"])
        place = {"provider": "anthropic", "name": "claude", "baseUrl": server.base_url}
        assert (await answer(models.get(choice(place)))).text == "Good day"
        assert (await answer(models.get(choice({**place, "apiKeyEnv": "TEAM_KEY"})))).text == "Good day"
        await models.close()
    first, second = server.asked
    assert first.body["max_tokens"]
    assert [asked.headers["authorization"] for asked in (first, second)] == ["Bearer none", "Bearer team-key"]
    assert "env-" not in str([asked.headers for asked in server.asked])


async def test_a_variable_that_is_not_set_is_an_error_before_any_request() -> None:
    async with ModelServer() as server:
        models = opened({"TEAM_KEY": ""}, hosts=["127.0.0.1"], env=["TEAM_KEY"])
        place = {"provider": "openai", "name": "m", "baseUrl": server.base_url, "apiKeyEnv": "TEAM_KEY"}
        with pytest.raises(ModelFailed, match="TEAM_KEY, which apiKeyEnv names, is not set") as failed:
            await ask(models.get(choice(place)))
        await models.close()
    assert (failed.value.code, failed.value.retryable, server.asked) == ("model_unauthorized", False, [])


@pytest.mark.parametrize("status", [401, 404, 429, 503])
async def test_the_servers_own_words_are_kept_for_admins(status: int) -> None:
    """J7"""
    async with ModelServer(sequence(Reply(status=status, text="The tenant is asleep"))) as server:
        models = opened({})
        place = {"provider": "openai", "name": "m", "baseUrl": server.base_url}
        with pytest.raises(ModelFailed) as failed:
            await ask(models.get(choice(place)))
        await models.close()
    assert "The tenant is asleep" in failed.value.detail
    assert "asleep" not in failed.value.message


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("gemini", "google"),
        ("grok", "xai"),
        ("claude", "anthropic"),
        ("llama.cpp", "llamacpp"),
        ("olama", "ollama"),
        ("Gemini", "google"),
        ("opnai", "openai"),
    ],
)
def test_an_unknown_provider_is_answered_with_the_one_that_was_meant(given: str, meant: str) -> None:
    with pytest.raises(ValidationError, match=f'use "{meant}"'):
        choice(f"{given}:m")


def test_hints_name_only_providers_that_exist() -> None:
    assert meant_provider("zzzzzzzz") is None
    assert {*PROVIDERS, *LOCAL_SERVERS} == set(known_providers())


@pytest.mark.parametrize(
    ("named", "provider", "name"), [("lmstudio:x", "lmstudio", "x"), ("mine:x", "openai", "mine:x")]
)
def test_set_model_with_an_address_keeps_the_name_of_a_local_server(named: str, provider: str, name: str) -> None:
    model = model_of(named, "http://127.0.0.1:9999/v1", None)
    assert (model["provider"], model["name"]) == (provider, name)
