"""R7: an external session is sent with the request and may come back with the response."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from majlis.agents.config.model import ModelChoice
from majlis.models.models import Models
from majlis.models.port import Answer
from tests.model_server import Asked, ModelServer, Reply, sequence, silent
from tests.models.prompts import PROMPT, answer, chat_choice

_choices: TypeAdapter[Any] = TypeAdapter(ModelChoice)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def exchanged(server: ModelServer, reply: Reply, session: str | None, **choice: Any) -> tuple[Asked, Answer]:
    server.script = sequence(reply)
    models = Models({})
    try:
        model = models.get(_choices.validate_json(json.dumps(chat_choice(server.base_url, **choice))))
        got = await answer(model, replace(PROMPT, session_id=session))
    finally:
        await models.close()
    return server.asked[-1], got


def _chunk(**more: Any) -> Reply:
    choice = {"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}
    raw = f"data: {json.dumps({'choices': [choice], **more})}\n\ndata: [DONE]\n\n"
    return Reply(raw=raw.encode())


async def test_r7_a_session_is_a_header_and_metadata_of_the_request(server: ModelServer) -> None:
    asked, got = await exchanged(server, silent("ok"), "cc-0042")
    assert asked.headers["x-session-id"] == "cc-0042"
    assert asked.body["metadata"] == {"session_id": "cc-0042"}
    assert got.session_id is None


async def test_r7_without_a_session_nothing_is_sent_that_a_strict_server_would_refuse(server: ModelServer) -> None:
    asked, _ = await exchanged(server, silent("ok"), None)
    assert "x-session-id" not in asked.headers
    assert "metadata" not in asked.body


async def test_r7_a_session_in_any_script_is_a_header_all_the_same(server: ModelServer) -> None:
    settings = {"extraBody": {"metadata": {"team": "a"}}}
    asked, _ = await exchanged(server, silent("ok"), "جلسة 100%", settings=settings)
    assert asked.headers["x-session-id"] == "%D8%AC%D9%84%D8%B3%D8%A9%20100%25"
    assert asked.body["metadata"] == {"session_id": "جلسة 100%", "team": "a"}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="ok", headers={"X-Session-Id": "new-1"}),
        _chunk(session_id="new-1"),
        _chunk(metadata={"session_id": "new-1"}),
    ],
)
async def test_r7_an_answer_may_name_its_session(server: ModelServer, reply: Reply) -> None:
    _, got = await exchanged(server, reply, "old")
    assert got.session_id == "new-1"


@pytest.mark.parametrize("given", [7, "", "x" * 257, "a\nb", {"id": "x"}])
async def test_r7_an_unusable_session_id_is_dropped_and_the_answer_is_kept(server: ModelServer, given: Any) -> None:
    _, got = await exchanged(server, _chunk(session_id=given), None)
    assert (got.text, got.session_id) == ("ok", None)
