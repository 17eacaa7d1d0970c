"""Models of the library's providers, through its OpenAI client and a real server (J7, M15)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from majlis.agents.config.model import ModelChoice
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.port import (
    Call,
    CallDelta,
    CallStarted,
    Model,
    ModelFailed,
    Patience,
    Prompt,
    Result,
    Said,
    System,
    Usage,
    User,
)
from tests.model_server import ModelServer, Reply, calls, say, sequence, silent
from tests.models.prompts import PROMPT, SECOND, SEND, answer, ask

choices: TypeAdapter[Any] = TypeAdapter(ModelChoice)
SCRIPTED = "openai-chat:scripted"


class Opened:
    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.models = Models(guard=ModelGuard(env=["MY_KEY"]))

    def model(self, choice: Any = SCRIPTED) -> Model:
        return self.models.get(choices.validate_json(json.dumps(choice)))

    async def fails(self, reply: Reply, **settings: Any) -> ModelFailed:
        self.server.script = sequence(reply)
        with pytest.raises(ModelFailed) as failed:
            await ask(self.model({"provider": "openai-chat", "name": "scripted", "settings": settings}))
        return failed.value


@pytest.fixture
async def opened(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Opened]:
    async with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "usual-key")
        opened = Opened(server)
        yield opened
        await opened.models.close()


async def test_an_answer_streams_and_ends_with_its_usage(opened: Opened) -> None:
    """M15"""
    reply = calls(("send_message", {"text": "Grüße und mehr"}), ("get_goals", {}))
    reply.text, reply.usage = "thinking aloud", (120, 100, 9)
    opened.server.script = sequence(reply, reply)
    seen = await ask(opened.model())
    assert [event.index for event in seen if isinstance(event, CallStarted)] == [0, 1]
    assert sum(isinstance(event, CallDelta) for event in seen) > 2
    whole = await answer(opened.model())
    made = [(each.name, json.loads(each.arguments)) for each in whole.calls]
    assert made == [("send_message", {"text": "Grüße und mehr"}), ("get_goals", {})]
    assert (whole.text, whole.usage) == ("thinking aloud", Usage(120, 100, 9))


async def test_the_prompt_arrives_as_it_was_meant(opened: Opened) -> None:
    await answer(opened.model(), SECOND)
    asked = opened.server.asked[0]
    assert [message["role"] for message in asked.messages] == ["system", "user", "assistant", "tool"]
    assert asked.text == "Be brief.\none two three\nHm.\n{}"
    made = asked.messages[2]["tool_calls"][0]["function"]
    assert (made["name"], json.loads(made["arguments"])) == ("send_message", {"text": "x"})
    assert asked.body["tools"][0]["function"]["parameters"] == SEND.schema
    assert asked.headers["authorization"] == "Bearer usual-key"


async def test_a_prompt_without_a_users_turn_gets_one(opened: Opened) -> None:
    """Several providers refuse it otherwise, and the classic layout is a single system message."""
    call = Call("call_a", "send_message", "{}")
    await answer(opened.model(), Prompt((System("All."), Said("", (call,)), Result("call_a", "send_message", "{}"))))
    roles = [message["role"] for message in opened.server.asked[0].messages]
    assert roles == ["system", "user", "assistant", "tool"]
    assert opened.server.asked[0].messages[1]["content"] == "Act now."


async def test_cache_points_stand_at_the_last_borders_of_the_parts() -> None:
    from pydantic_ai.messages import CachePoint, ModelRequest, UserPromptPart

    from majlis.models.library.translate import library_messages

    prompt = Prompt((System("s"), User(("a", "b")), User(("1", "2", "3", "4"))))
    request = library_messages(prompt, {})[0]
    assert isinstance(request, ModelRequest)
    contents = [part.content for part in request.parts if isinstance(part, UserPromptPart)]
    point = CachePoint()
    assert contents == ["ab", ["1", point, "2", point, "3", point, "4"]]


async def test_settings_and_a_key_of_its_own_are_honoured(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "own-key")
    settings = {"temperature": 0.5, "maxTokens": 50, "stopSequences": ["END"], "extraBody": {"custom": 1}, "timeout": 9}
    choice = {"provider": "openai-chat", "name": "scripted", "apiKeyEnv": "MY_KEY", "settings": settings}
    await answer(opened.model(choice))
    asked = opened.server.asked[0]
    assert asked.headers["authorization"] == "Bearer own-key"
    assert (asked.body["temperature"], asked.body["stop"], asked.body["custom"]) == (0.5, ["END"], 1)


async def test_cancelling_the_reader_aborts_the_request(opened: Opened) -> None:
    """J3"""
    reply = say("never to be finished")
    reply.gate_mid = asyncio.Event()
    opened.server.script = sequence(reply)
    reading = asyncio.create_task(ask(opened.model()))
    await opened.server.until_open(1)
    reading.cancel()
    await opened.server.until_open(0)


REFUSALS = [
    (Reply(status=401), "model_unauthorized", False),
    (Reply(status=404), "model_not_found", False),
    (Reply(status=400, text="tools[0] is odd"), "model_refused_request", False),
    (Reply(status=400, text="too long", error_code="context_length_exceeded"), "model_context_too_long", False),
    (Reply(status=429, headers={"Retry-After": "7"}), "model_rate_limited", True),
    (Reply(status=429, error_code="insufficient_quota"), "model_quota_exceeded", False),
    (Reply(status=500), "model_unavailable", True),
    (Reply(status=503), "model_unavailable", True),
    (Reply(raw=b"data: {not json}\n\n"), "model_broken_stream", True),
    (Reply(raw=b"data: ", hang_up=True), "model_broken_stream", True),
    (Reply(raw=b""), "model_broken_stream", True),
]


@pytest.mark.parametrize(("reply", "code", "retryable"), REFUSALS)
async def test_every_failure_has_its_code(opened: Opened, reply: Reply, code: str, retryable: bool) -> None:
    """J7: one request only, because retries belong to our loop."""
    failed = await opened.fails(reply)
    assert (failed.code, failed.retryable) == (code, retryable), failed.message
    assert len(opened.server.asked) == 1
    assert failed.retry_after == (7 if "Retry-After" in reply.headers else None)


async def test_a_request_may_take_only_so_long(opened: Opened) -> None:
    """J7"""
    failed = await opened.fails(Reply(gate=asyncio.Event()), timeout=0.2)
    assert (failed.code, failed.retryable) == ("model_timeout", True)


@pytest.mark.parametrize(
    ("where", "patience", "told"),
    [
        ("gate", Patience(first_byte=0.2), "did not begin to answer for 0.2 s"),
        ("gate_mid", Patience(idle=0.2), "stopped in the middle of its answer for 0.2 s"),
    ],
)
async def test_a_model_that_hangs_is_given_up(opened: Opened, where: str, patience: Patience, told: str) -> None:
    """J7"""
    reply = say("too late, and long enough for several pieces")
    setattr(reply, where, asyncio.Event())
    opened.server.script = sequence(reply)
    with pytest.raises(ModelFailed, match=told) as failed:
        await ask(opened.model(), replace(PROMPT, patience=patience))
    assert (failed.value.code, failed.value.slow) == ("model_hung", True)


async def test_a_server_that_is_not_there_can_be_tried_again(opened: Opened) -> None:
    """J7"""
    await opened.server.stop()
    failed = await opened.fails(silent())
    assert (failed.code, failed.retryable) == ("model_unreachable", True)


async def test_a_missing_key_names_the_variable_to_set(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """J7"""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelFailed) as failed:
        await ask(opened.model("anthropic:claude-x"))
    assert (failed.value.code, failed.value.retryable) == ("model_misconfigured", False)
    assert "set ANTHROPIC_API_KEY in the environment of Majlis" in failed.value.message


async def test_a_provider_whose_package_is_missing_says_so(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """J7"""
    monkeypatch.setenv("GROQ_API_KEY", "key")
    with pytest.raises(ModelFailed) as failed:
        await ask(opened.model("groq:some-model"))
    assert (failed.value.code, failed.value.retryable) == ("model_misconfigured", False)
    assert 'Run pip install "pydantic-ai-slim[groq]==' in failed.value.message


async def test_importing_the_room_does_not_import_the_library() -> None:
    check = "import sys, majlis.models.models; sys.exit('pydantic_ai' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", check)
    assert await process.wait() == 0


async def test_the_models_of_one_choice_are_one(opened: Opened) -> None:
    assert opened.model() is opened.model()
    assert opened.model("demo") is opened.model("demo")
    assert opened.model({"provider": "openai-chat", "name": "a"}) is not opened.model(
        {"provider": "openai-chat", "name": "b"}
    )
