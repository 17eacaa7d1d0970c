"""J7: servers that deviate from the Chat Completions protocol. No response is lost over a detail, and none crashes
Majlis."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.models.port import Usage
from tests.model_server import Reply
from tests.models.served_models import Opened, events


async def odd_answer(opened: Opened, *chunks: Any, **more: Any) -> Any:
    return await opened.answers(Reply(raw=events(*chunks), **more))


def delta(finish: Any = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def called(name: Any, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"prompt_tokens": "12", "completion_tokens": 3.0}, Usage(0, 0, 3)),
        ({"prompt_tokens": -5, "completion_tokens": None}, Usage(0, 0, 0)),
        ({"prompt_tokens": True, "completion_tokens": 10**30}, Usage(0, 0, 0)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 90}}, Usage(10, 10, 0)),
        ({"prompt_tokens": 10, "prompt_tokens_details": "many"}, Usage(10, 0, 0)),
        ("a lot", Usage()),
    ],
)
async def test_j7_an_invalid_token_count_is_ignored(opened: Opened, said: Any, usage: Usage) -> None:
    made = await odd_answer(opened, delta("stop", content="hi"), {"choices": [], "usage": said})
    assert (made.text, made.usage) == ("hi", usage)


async def test_j7_text_in_parts_is_text(opened: Opened) -> None:
    """Reasoning models of some servers stream lists of parts; only the text parts are the answer."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "hello"}]
    made = await odd_answer(opened, delta(content=parts), delta(content="!"), delta("stop", content=[]))
    assert made.text == "hello!"


async def test_j7_names_and_ids_are_words_that_every_database_keeps(opened: Opened) -> None:
    made = await odd_answer(
        opened, delta(tool_calls=[called("de\0ploy\n", "{}", index=0, id="a\0b")]), delta("tool_calls")
    )
    assert [(call.name, call.id) for call in made.calls] == [("deploy", "ab")]


async def test_j7_a_number_for_an_id_is_an_id(opened: Opened) -> None:
    made = await odd_answer(
        opened,
        delta(tool_calls=[called("a", '{"x"', id=7)]),
        delta(tool_calls=[{"id": 7, "function": {"arguments": ": 1}"}}]),
        delta("tool_calls"),
    )
    assert [(call.id, call.arguments) for call in made.calls] == [("7", '{"x": 1}')]


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(delta(tool_calls=[called({"a": 1}, "{}")]), id="a name that is an object"),
        pytest.param(delta(content=5), id="text that is a number"),
        pytest.param(delta(finish=["stop"], content="x"), id="a reason that is a list"),
    ],
)
async def test_j7_an_answer_of_unknown_form_is_a_broken_answer(opened: Opened, chunk: Any) -> None:
    failed = await opened.fails(Reply(raw=events(chunk, delta("stop"))))
    assert (failed.code, failed.retryable) == ("model_broken_stream", True)


async def test_j7_a_connection_that_breaks_after_done_costs_nothing(opened: Opened) -> None:
    """The response was complete, so it is not requested again."""
    made = await odd_answer(opened, delta("stop", content="whole"), hang_up=True)
    assert (made.text, len(opened.server.asked)) == ("whole", 1)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(raw=b"data: [DONE]\n\n"), id="a stream"),
        pytest.param(Reply(raw=b'{"status": "ok"}', headers={"Content-Type": "application/json"}), id="an object"),
    ],
)
async def test_j7_a_missing_answer_does_not_count_as_silence(opened: Opened, reply: Reply) -> None:
    """T9: an agent may stay silent, but an empty response is a failure."""
    failed = await opened.fails(reply)
    assert (failed.code, failed.retryable) == ("model_broken_stream", True)


MUCH = "x" * 1_000_000


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(raw=b"data: " + MUCH.encode() * 12), id="a line"),
        pytest.param(Reply(raw=b"data: x\n" * 300_000), id="an event"),
        pytest.param(Reply(raw=events(*(delta(content=MUCH) for _ in range(12)))), id="text"),
        pytest.param(Reply(raw=events(*(delta(tool_calls=[called("a", MUCH)]) for _ in range(12)))), id="arguments"),
        pytest.param(Reply(raw=b" " * 12_000_000, headers={"Content-Type": "application/json"}), id="an object"),
    ],
)
async def test_j7_an_answer_without_end_is_not_kept_in_memory(opened: Opened, reply: Reply) -> None:
    failed = await opened.fails(reply)
    assert (failed.code, failed.retryable) == ("model_broken_stream", True)
    assert "longer" in failed.message


async def test_j7_the_cost_of_a_filtered_answer_is_known(opened: Opened) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 5}}
    for last in (delta("content_filter"), delta("length", tool_calls=[called("a", '{"x": "cut')])):
        failed = await opened.fails(Reply(raw=events(last, usage)))
        assert failed.usage == Usage(70, 0, 5)
