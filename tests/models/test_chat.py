"""Our Chat Completions client against a real server: requests, responses and failures (J7, M15, X13)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import orjson
import pytest

from majlis.agents.config.model import ModelObject
from majlis.model_providers import Key
from majlis.models.chat.client import Deadlines
from majlis.models.chat.wire_format import chat_messages, chat_tools
from majlis.models.port import CallDelta, CallStarted, ModelFailed, Patience, Prompt, System, TextDelta, Usage
from majlis.models.provider_errors import ProviderErrors
from tests.model_server import Reply, call, calls, say, sequence, silent
from tests.models.prompts import PROMPT, SECOND, answer, ask
from tests.models.served_models import Opened, events


def delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def test_a_call_streams_while_it_is_written_and_ends_with_its_usage(opened: Opened) -> None:
    """M15"""
    reply = say('Grüße, سلام, "quoted" and\nmore')
    reply.text, reply.usage = "thinking aloud", (120, 100, 9)
    opened.server.script = sequence(reply)
    seen = await ask(opened.model())
    assert "".join(event.text for event in seen if isinstance(event, TextDelta)) == "thinking aloud"
    [started] = [event for event in seen if isinstance(event, CallStarted)]
    assert started.name == "send_message"
    assert sum(isinstance(event, CallDelta) for event in seen) > 2
    opened.server.script = sequence(reply)
    whole = await answer(opened.model())
    assert json.loads(whole.calls[0].arguments) == {"text": 'Grüße, سلام, "quoted" and\nmore'}
    assert (whole.text, whole.usage) == ("thinking aloud", Usage(120, 100, 9))


async def test_the_first_half_of_a_call_is_seen_before_the_second_is_written(opened: Opened) -> None:
    """M15"""
    gate = asyncio.Event()
    reply = say("first half, second half")
    reply.gate_mid = gate
    opened.server.script = sequence(reply)
    stream = aiter(opened.model().stream(PROMPT))
    seen = [await anext(stream), await anext(stream)]
    assert isinstance(seen[1], CallDelta)
    gate.set()
    seen += [event async for event in stream]
    assert "".join(event.arguments for event in seen if isinstance(event, CallDelta)).endswith('half"}')


async def test_the_stored_request_is_the_sent_request(opened: Opened) -> None:
    """X13"""
    await opened.answers(silent(), prompt=SECOND)
    body = opened.server.asked[0].body
    assert body["messages"] == chat_messages(SECOND)
    assert body["tools"] == chat_tools(SECOND)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][1]["content"] == "one two three"
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


async def test_x8_the_constant_parts_of_a_request_are_sent_first(opened: Opened) -> None:
    """So that a cache that compares the bytes of a request can match it: tools and settings, then the messages."""
    settings = {"temperature": 0.5, "parallelToolCalls": False, "extraBody": {"cache_prompt": True, "messages": []}}
    await answer(opened.model(settings=settings), replace(SECOND, session_id="s1"))
    body = opened.server.asked[0].body
    assert list(body)[-1] == "messages"
    assert body["messages"] == chat_messages(SECOND), "no setting puts other words into a prompt"
    assert {"tools", "temperature", "parallel_tool_calls", "cache_prompt", "metadata"} < set(body)


async def test_a_prompt_without_tools_sends_none(opened: Opened) -> None:
    await opened.answers(silent(), prompt=Prompt((System("Act."),)))
    assert "tools" not in opened.server.asked[0].body


async def test_settings_are_sent_under_the_names_of_the_protocol(opened: Opened) -> None:
    settings = {
        "maxTokens": 50, "temperature": 0.5, "topP": 0.9, "topK": 5, "seed": 7, "stopSequences": ["END"],
        "presencePenalty": 1.0, "logitBias": {"42": -100}, "parallelToolCalls": False, "thinking": "low",
        "serviceTier": "flex", "extraBody": {"chat_template_kwargs": {"enable_thinking": False}},
    }  # fmt: skip
    await answer(opened.model(settings=settings))
    body = opened.server.asked[0].body
    fixed = {"model", "stream", "stream_options", "messages", "tools"}
    assert {name: body[name] for name in body.keys() - fixed} == {
        "max_tokens": 50, "temperature": 0.5, "top_p": 0.9, "top_k": 5, "seed": 7, "stop": ["END"],
        "presence_penalty": 1.0, "logit_bias": {"42": -100}, "parallel_tool_calls": False, "reasoning_effort": "low",
        "service_tier": "flex", "chat_template_kwargs": {"enable_thinking": False},
    }  # fmt: skip


async def test_the_key_comes_from_the_named_variable_and_the_providers_own_stays_at_home(opened: Opened) -> None:
    opened.environ |= {"OPENAI_API_KEY": "usual-key", "MY_KEY": "own-key"}
    await answer(opened.model())
    await answer(opened.model(apiKeyEnv="MY_KEY"))
    await answer(opened.model(provider="vllm"))
    sent = [asked.headers.get("authorization") for asked in opened.server.asked]
    assert sent == [None, "Bearer own-key", None]


async def test_several_calls_in_one_answer_keep_their_order_and_ids(opened: Opened) -> None:
    made = await opened.answers(calls(("a", {"x": 1}), ("b", {"y": [1, 2]}), ("c", {})))
    assert [(each.name, json.loads(each.arguments)) for each in made.calls] == [
        ("a", {"x": 1}),
        ("b", {"y": [1, 2]}),
        ("c", {}),
    ]
    assert len({each.id for each in made.calls}) == 3


def called(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([[called("a", '{"x":1}'), called("b", "{}")]], id="whole calls, no index, no id"),
        pytest.param(
            [[called("a", '{"x":1}', index=0, id="1")], [called("b", "{}", index=0, id="2")]], id="always index 0"
        ),
        pytest.param(
            [[called("a", '{"x"', id="1")], [{"id": "1", "function": {"arguments": ":1}"}}], [called("b", "", id="2")]],
            id="by id",
        ),
        pytest.param(
            [[called("a", "", index=0)], [{"function": {"arguments": '{"x":1}'}}], [called("b", None)]],
            id="the last one goes on",
        ),
        pytest.param([[called("a", {"x": 1}, index=0), called("b", {}, index=1)]], id="arguments as an object"),
        pytest.param([[called("a", '{"x":1}', index=0, id=""), called("b", "", index=1, id="")]], id="empty ids"),
    ],
)
async def test_every_servers_way_of_streaming_calls_is_understood(opened: Opened, deltas: list[Any]) -> None:
    chunks = [delta(content=None, tool_calls=calls) for calls in deltas]
    made = await opened.answers(Reply(raw=events(*chunks, delta("tool_calls"))))
    assert [(each.name, json.loads(each.arguments)) for each in made.calls] == [("a", {"x": 1}), ("b", {})]
    assert all(each.id for each in made.calls)
    assert made.calls[0].id != made.calls[1].id


async def test_an_id_that_the_run_has_used_already_is_replaced(opened: Opened) -> None:
    raw = events(delta(tool_calls=[called("a", "{}", index=0, id="call_a")]), delta("tool_calls"))
    made = await opened.answers(Reply(raw=raw), prompt=SECOND)
    assert made.calls[0].id != "call_a"


async def test_lines_may_end_in_any_way_and_carry_comments(opened: Opened) -> None:
    raw = (
        b": keep-alive\r\n\r\nevent: message\r\nid: 1\r\n"
        b'data: {"choices": [{"delta":\r\ndata:  {"content": "hi"}, "finish_reason": "stop"}]}\r\n\r\n'
        b": ping\n\ndata:[DONE]\n\n"
    )
    assert (await opened.answers(Reply(raw=raw))).text == "hi"


async def test_a_reason_to_stop_is_as_good_as_done(opened: Opened) -> None:
    assert (await opened.answers(Reply(raw=events(delta("stop", content="hi"), end="")))).text == "hi"


async def test_a_server_that_does_not_stream_is_understood(opened: Opened) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [called("a", '{"x": 1}', id="1")]}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}
    reply = Reply(raw=orjson.dumps(body), headers={"Content-Type": "application/json; charset=utf-8"})
    made = await opened.answers(reply)
    assert (made.calls[0].name, made.calls[0].arguments, made.usage) == ("a", '{"x": 1}', Usage(5, 0, 2))


async def test_a_connection_serves_many_requests(opened: Opened) -> None:
    for _ in range(3):
        await opened.answers(call("a", x=1))
    assert opened.server.connections == 1


async def test_cancelling_the_reader_aborts_the_request(opened: Opened) -> None:
    """J3"""
    reply = say("never to be finished")
    reply.gate_mid = asyncio.Event()
    opened.server.script = sequence(reply)
    reading = asyncio.create_task(ask(opened.model()))
    await opened.server.until_open(1)
    reading.cancel()
    await opened.server.until_open(0)
    assert reading.cancelled() or reading.cancelling()


REFUSALS = [
    (Reply(status=401, text="Incorrect API key provided: sk-secret123"), "model_unauthorized", False),
    (Reply(status=403), "model_unauthorized", False),
    (Reply(status=404), "model_not_found", False),
    (Reply(status=400, text="tools[0] is odd"), "model_refused_request", False),
    (Reply(status=422, text="odd"), "model_refused_request", False),
    (Reply(status=400, text="too long", error_code="context_length_exceeded"), "model_context_too_long", False),
    (Reply(status=400, text="the request exceeds the available context size"), "model_context_too_long", False),
    (Reply(status=429), "model_rate_limited", True),
    (Reply(status=429, error_code="insufficient_quota"), "model_quota_exceeded", False),
    (Reply(status=402), "model_quota_exceeded", False),
    (Reply(status=500), "model_unavailable", True),
    (Reply(status=529), "model_unavailable", True),
    (Reply(status=302, headers={"Location": "/"}), "model_not_found", False),
    (Reply(raw=events(delta(content="half"), end="")), "model_broken_stream", True),
    (Reply(raw=b"data: {not json}\n\n"), "model_broken_stream", True),
    (Reply(raw=b"data: [1]\n\n"), "model_broken_stream", True),
    (Reply(raw=b'data: {"choices": ["?"]}\n\n'), "model_broken_stream", True),
    (Reply(raw=b"<html>a page</html>", headers={"Content-Type": "text/html"}), "model_not_found", False),
    (Reply(raw=b""), "model_broken_stream", True),
    (Reply(text="x" * 100, hang_up=True, raw=b"data: "), "model_broken_stream", True),
    (Reply(raw=events({"error": {"message": "overloaded"}})), "model_unavailable", True),
    (Reply(raw=events({"error": {"message": "no", "code": 400}})), "model_refused_request", False),
    (Reply(raw=events(delta("length", tool_calls=[called("a", '{"x": "cut')]))), "model_cut_off", False),
    (Reply(raw=events(delta("content_filter"))), "model_filtered", False),
    (Reply(raw=events(delta("tool_calls", tool_calls=[called("", "{}")]))), "model_broken_stream", True),
]


@pytest.mark.parametrize(("reply", "code", "retryable"), REFUSALS)
async def test_every_failure_has_its_code(opened: Opened, reply: Reply, code: str, retryable: bool) -> None:
    """J7"""
    failed = await opened.fails(reply)
    assert (failed.code, failed.retryable) == (code, retryable), failed.message


async def test_a_failure_says_what_to_do_and_tells_no_secret(opened: Opened) -> None:
    """J7"""
    failed = await opened.fails(Reply(status=401))
    assert "Store it and write secret:NAME" in failed.message
    opened.environ["MY_KEY"] = "very-secret-1"
    failed = await opened.fails(Reply(status=401, text="bad key very-secret-1"), apiKeyEnv="MY_KEY")
    assert "MY_KEY" in failed.message
    echo = "tool is odd for sk-abcdefghij and very-secret-1 [type=x, input_value={'messages': 'private'}] " + "x" * 999
    failed = await opened.fails(Reply(status=400, text=echo), apiKeyEnv="MY_KEY")
    assert "tool is odd" in failed.detail
    assert "tool is odd" not in failed.message
    for secret in ("very-secret-1", "sk-abcdefghij", "private"):
        assert secret not in failed.message + failed.detail
    assert len(failed.detail) < 500


async def test_j7_a_refused_key_is_answered_with_one_readable_advice(opened: Opened) -> None:
    """It used to read "Put a valid key for x there of majlis"."""
    opened.environ["MY_KEY"] = "very-secret-1"
    place = "in the environment of Majlis, then restart it."
    refused = await opened.fails(Reply(status=401), apiKeyEnv="MY_KEY")
    assert refused.message.endswith(f" rejected the key in MY_KEY (401). Set a key that is valid for scripted {place}")
    del opened.environ["MY_KEY"]
    await opened.restart()
    missing = await opened.fails(Reply(status=401), apiKeyEnv="MY_KEY")
    assert missing.message.endswith(f" MY_KEY, which apiKeyEnv names, is not set. Set it {place}")
    unnamed = await opened.fails(Reply(status=403), provider="litellm")
    assert unnamed.message.endswith(
        " requires a key (403). Store it and write secret:NAME as the model's apiKey, or name its variable in "
        f"apiKeyEnv, allow it in model_env and set it {place}"
    )


async def test_j7_a_rate_limit_promises_no_further_try(opened: Opened) -> None:
    """The space also shows this message after the last attempt."""
    message = (await opened.fails(Reply(status=429))).message
    assert message.endswith("(429). Lower concurrentRuns, or choose a higher tier at the provider.")


async def test_a_rate_limit_says_when_to_come_back(opened: Opened) -> None:
    """J7"""
    assert (await opened.fails(Reply(status=429, headers={"Retry-After": "7"}))).retry_after == 7
    assert (await opened.fails(Reply(status=429, headers={"retry-after-ms": "1500"}))).retry_after == 1.5
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert (await opened.fails(Reply(status=503, headers={"Retry-After": past}))).retry_after == 0
    for unreadable in ("soon", "nan", "inf", "-inf"):
        assert (await opened.fails(Reply(status=429, headers={"Retry-After": unreadable}))).retry_after is None


async def test_a_server_that_is_not_there_is_named(opened: Opened) -> None:
    """J7"""
    await opened.server.stop()
    with pytest.raises(ModelFailed) as failed:
        await ask(opened.model())
    assert (failed.value.code, failed.value.retryable) == ("model_unreachable", True)
    assert opened.server.base_url.removeprefix("http://").removesuffix("/v1") in failed.value.message


@pytest.mark.parametrize("where", ["gate", "gate_mid"])
async def test_a_request_may_take_only_so_long(opened: Opened, where: str) -> None:
    """J7"""
    reply = say("too late")
    setattr(reply, where, asyncio.Event())
    failed = await opened.fails(reply, settings={"timeout": 0.05})
    assert (failed.code, failed.retryable) == ("model_timeout", True)
    await opened.server.until_open(0)


@pytest.mark.parametrize(
    ("where", "patience", "told"),
    [
        ("gate", Patience(first_byte=0.05), "did not begin to answer for 0.05 s. If it needs more time, raise limits."),
        ("gate_mid", Patience(idle=0.05), "stopped in the middle of its answer for 0.05 s. If it needs more time,"),
    ],
)
async def test_a_model_that_hangs_is_given_up(opened: Opened, where: str, patience: Patience, told: str) -> None:
    """J7: the agent's limits say how long to wait. A hung request is not repeated within the run."""
    reply = say("too late")
    setattr(reply, where, asyncio.Event())
    opened.server.script = sequence(reply)
    with pytest.raises(ModelFailed, match=re.escape(told)) as failed:
        await ask(opened.model(), replace(PROMPT, patience=patience))
    assert (failed.value.code, failed.value.retryable, failed.value.slow) == ("model_hung", True, True)
    await opened.server.until_open(0)


async def test_a_slow_answer_that_keeps_coming_is_not_given_up(opened: Opened) -> None:
    """J7: free text and reasoning count as signs of life, although they are never shown."""
    reply = Reply(text="Thinking aloud, at length. " * 20, gate_mid=(gate := asyncio.Event()))
    gate.set()
    opened.server.script = sequence(reply)
    found = await answer(opened.model(), replace(PROMPT, patience=Patience(first_byte=30, idle=30)))
    assert found.text == reply.text


@pytest.mark.parametrize(
    ("base_url", "seconds"),
    [
        ("http://127.0.0.1:11434/v1", 300),
        ("http://192.168.1.20:8080/v1", 300),
        ("http://[fd00::1]:8080/v1", 300),
        ("http://ollama:11434/v1", 300),
        ("http://gpu.lan/v1", 300),
        ("https://api.example.com/v1", 120),
        (None, 120),
    ],
)
def test_a_server_nearby_gets_more_time_to_begin(base_url: str | None, seconds: int) -> None:
    """J7: it may read a long prompt on slow hardware."""
    choice = ModelObject.model_validate({"provider": "openai", "name": "scripted", "baseUrl": base_url})
    given_up = Deadlines(choice, Patience()).failure(ProviderErrors("The model server", "scripted", Key(None)))
    assert f"for {seconds} s" in given_up.message
