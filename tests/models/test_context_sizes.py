"""F1: a model's server is asked how many tokens a request may have. Each kind of server answers in its own form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from majlis import clock
from majlis.agents.config.model import ModelChoice, ModelObject
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.port import UNLIMITED, Context
from tests.conditions import PATIENCE_SECONDS, until
from tests.tools.web_server import Asked, Web, answer, serve_web

_DEFAULT = Context(32_000, "default")
_OPENAI_LIST = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "library"}]}
_LLAMA_META = {"vocab_type": 2, "n_vocab": 151_936, "n_ctx_train": 40_960, "n_embd": 4096, "n_params": 8, "size": 5}
_SHOWN = {
    "parameters": 'stop "<|im_end|>"',
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
}


def patient(models: Models) -> Models:
    models.contexts.wait_seconds = models.contexts.ask_seconds = PATIENCE_SECONDS
    return models


class Servers:
    """A server that has a JSON body for some of its paths, and models that use it."""

    def __init__(self, web: Web) -> None:
        self.bodies: dict[str, Any] = {}
        self.web = web
        web.answers = self._answer
        environ = {"OLLAMA_BASE_URL": f"{web.base}/v1"}
        self.models = patient(Models(environ, guard=ModelGuard(["127.0.0.1"], environ=environ)))

    def _answer(self, asked: Asked) -> bytes:
        body = self.bodies.get(asked.path)
        return answer(json.dumps(body)) if body is not None else answer('{"error": "not found"}', status=404)

    async def context(self, name: str = "m", provider: str = "openai") -> Context:
        choice = ModelObject(provider=provider, name=name, baseUrl=f"{self.web.base}/v1")
        return (await self.models.context(choice)).context

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.web.asked]


@asynccontextmanager
async def opened() -> AsyncIterator[Servers]:
    async with serve_web() as web:
        servers = Servers(web)
        yield servers
        await servers.models.close()


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with opened() as found:
        yield found


@pytest.mark.parametrize(
    ("bodies", "tokens"),
    [
        # llama.cpp: one slot's size, under any name; an older one; its router with a model of several.
        ({"/v1/models": {"data": [{"id": "/models/q.gguf", "meta": {**_LLAMA_META, "n_ctx": 8192}}]}}, 8192),
        (
            {
                "/v1/models": {"data": [{"id": "/models/q.gguf", "meta": _LLAMA_META}]},
                "/props?model=m&autoload=false": {"default_generation_settings": {"n_ctx": 16_384}, "total_slots": 4},
            },
            16_384,
        ),
        ({"/v1/models": {"data": [{"id": "q", "aliases": ["m"], "meta": {"n_ctx": 4096}}, {"id": "r"}]}}, 4096),
        # vLLM and SGLang.
        ({"/v1/models": {"data": [{"id": "m", "owned_by": "vllm", "root": "m", "max_model_len": 24_576}]}}, 24_576),
        # LM Studio: as it is loaded now.
        (
            {
                "/v1/models": _OPENAI_LIST,
                "/api/v0/models": {
                    "data": [
                        {"id": "other", "state": "not-loaded", "max_context_length": 8192},
                        {"id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 6144},
                    ]
                },
            },
            6144,
        ),
        # Ollama: as it is loaded now; as its Modelfile says, but not more than the model has; in its cloud.
        ({"/v1/models": _OPENAI_LIST, "/api/ps": {"models": [{"name": "m:latest", "context_length": 4096}]}}, 4096),
        (
            {
                "/v1/models": _OPENAI_LIST,
                "/api/ps": {"models": []},
                "/api/show": {**_SHOWN, "parameters": 'num_ctx                        12288\nstop "a"'},
            },
            12_288,
        ),
        ({"/v1/models": _OPENAI_LIST, "/api/show": {**_SHOWN, "parameters": "num_ctx 90000"}}, 40_960),
        ({"/v1/models": _OPENAI_LIST, "/api/show": {**_SHOWN, "remote_host": "https://ollama.com:443"}}, 40_960),
        # Providers and their proxies: OpenRouter, Groq, Mistral, Anthropic's form.
        (
            {
                "/v1/models": {
                    "data": [{"id": "m", "context_length": 131_072, "top_provider": {"context_length": 65_536}}]
                }
            },
            65_536,
        ),
        ({"/v1/models": {"data": [{"id": "l", "context_window": 1}, {"id": "m", "context_window": 131_072}]}}, 131_072),
        ({"/v1/models": {"data": [{"id": "m", "max_context_length": 262_144}]}}, 262_144),
        ({"/v1/models": {"data": [{"id": "m", "max_input_tokens": 200_000, "max_tokens": 64_000}]}}, 200_000),
    ],
)
async def test_f1_the_size_that_a_server_tells_is_used(servers: Servers, bodies: dict[str, Any], tokens: int) -> None:
    servers.bodies = bodies
    assert await servers.context() == Context(tokens, "server")


@pytest.mark.parametrize(
    "listed", [None, [], {}, "text", {"data": 5}, {"data": [None, 5, {"id": "m", "max_model_len": "9"}]}]
)
async def test_f1_a_server_that_does_not_tell_gets_the_default(servers: Servers, listed: Any) -> None:
    servers.bodies = {"/v1/models": listed, "/props?model=m&autoload=false": [], "/api/v0/models": 1, "/api/show": []}
    assert await servers.context() == _DEFAULT
    # It is not asked again by every run.
    before = len(servers.web.asked)
    assert await servers.context() == _DEFAULT
    assert len(servers.web.asked) == before


async def test_f1_a_model_that_is_not_loaded_yet_is_asked_for_again(servers: Servers) -> None:
    """Ollama and LM Studio choose the size when they load it. It stays when they have unloaded it."""
    servers.bodies = {"/v1/models": _OPENAI_LIST, "/api/show": _SHOWN}
    assert await servers.context() == _DEFAULT
    servers.bodies["/api/ps"] = {"models": [{"name": "m", "context_length": 4096}]}
    clock.advance(10_000)
    assert await servers.context() == Context(4096, "server")
    del servers.bodies["/api/ps"]
    clock.advance(3_600_000)
    before = servers.paths.count("/api/show")
    assert await servers.context() == Context(4096, "server")
    await until(lambda: servers.paths.count("/api/show") > before)
    await _until_answered(servers)
    assert await servers.context() == Context(4096, "server")
    # It cannot be loaded with more than it was trained for.
    small = {"model_info": {"phi.context_length": 2048}}
    servers.bodies = {"/v1/models": _OPENAI_LIST, "/api/show": small}
    assert await servers.context("small") == Context(2048, "server")


async def test_f1_the_size_is_asked_once_for_many_runs_and_now_and_then_again(servers: Servers) -> None:
    servers.bodies = {"/v1/models": {"data": [{"id": "m", "max_model_len": 9000}]}}
    assert {await each for each in [servers.context() for _ in range(20)]} == {Context(9000, "server")}
    found = await asyncio.gather(*(servers.context("n") for _ in range(20)))
    assert servers.paths.count("/v1/models") == 2
    assert set(found) == {_DEFAULT}
    # The run that finds it old does not wait for the new answer.
    servers.bodies = {"/v1/models": {"data": [{"id": "m", "max_model_len": 5000}]}}
    clock.advance(11 * 60_000)
    servers.models.contexts.wait_seconds = 0
    assert await servers.context() == Context(9000, "server")
    await _until_answered(servers)
    assert await servers.context() == Context(5000, "server")


async def test_f1_no_run_waits_long_for_a_server_that_hangs(servers: Servers) -> None:
    released = asyncio.Event()

    async def late() -> AsyncIterator[bytes]:
        await released.wait()
        yield answer(json.dumps({"data": [{"id": "m", "max_model_len": 9000}]}))

    servers.web.answers = lambda asked: late()
    servers.models.contexts.wait_seconds = 0.01
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await servers.context() == _DEFAULT
        assert await servers.context() == _DEFAULT
    released.set()
    await _until_answered(servers)
    assert await servers.context() == Context(9000, "server")


async def test_f1_a_server_that_is_away_or_fails_gets_the_default_for_a_while(servers: Servers) -> None:
    servers.web.answers = lambda asked: answer("{}", status=503)
    assert await servers.context() == _DEFAULT
    servers.bodies = {"/v1/models": {"data": [{"id": "m", "max_model_len": 9000}]}}
    servers.web.answers = servers._answer
    clock.advance(61_000)
    assert await servers.context() == _DEFAULT
    await _until_answered(servers)
    assert await servers.context() == Context(9000, "server")
    away = ModelObject(provider="openai", name="m", baseUrl="http://127.0.0.1:1/v1")
    assert (await servers.models.context(away)).context == _DEFAULT
    not_allowed = ModelObject(provider="openai", name="m", baseUrl="http://192.0.2.1/v1")
    assert (await servers.models.context(not_allowed)).context == _DEFAULT


async def test_f1_the_key_is_sent_to_the_server_alone(servers: Servers) -> None:
    """G6: a redirect is not followed."""
    async with serve_web() as other:
        servers.web.answers = lambda asked: answer(status=302, Location=f"{other.base}{asked.path}")
        environ = {"TEAM_KEY": "team-key-0123456789"}
        models = patient(Models(environ, guard=ModelGuard(["127.0.0.1"], ["TEAM_KEY"], environ)))
        place = ModelObject(provider="openai", name="m", baseUrl=f"{servers.web.base}/v1", apiKeyEnv="TEAM_KEY")
        assert (await models.context(place)).context == _DEFAULT
        await models.close()
    assert {asked.headers["authorization"] for asked in servers.web.asked} == {"Bearer team-key-0123456789"}
    assert other.asked == []


@pytest.mark.parametrize("named", ["ollama:m", "demo"])
async def test_f1_models_without_an_address_are_asked_where_they_are_expected(
    servers: Servers, named: ModelChoice
) -> None:
    """Also the model that the settings give to agents with the model `demo`."""
    servers.bodies = {"/v1/models": _OPENAI_LIST, "/api/ps": {"models": [{"model": "m", "context_length": 7000}]}}
    environ = {"OLLAMA_BASE_URL": f"{servers.web.base}/v1"}
    models = patient(Models(environ, demo="ollama:m", guard=ModelGuard(environ=environ)))
    assert (await models.context(named)).context == Context(7000, "server")
    assert (await models.context("openai:gpt-5.2")).context == Context(400_000, "known")
    assert (await Models(environ).context("demo")).context == UNLIMITED
    await models.close()


async def _until_answered(servers: Servers) -> None:
    await until(lambda: not servers.models.contexts._asking)
