"""Spans show what a run did, how long it took and what it cost, with the names of OpenTelemetry's GenAI conventions and
without any text (D7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from majlis.runs.journal import Entry, write_entries
from majlis.settings import Settings
from tests.conditions import until
from tests.model_server import Asked, Reply, by_agent, call, calls, say, sequence, silent
from tests.runs.cards import asked, submit
from tests.runs.collector import Heard, id_of, linked, told
from tests.runs.deploy_tools import HERE, SCHEMA, tool
from tests.runs.house import House

WORDS = ("the safe opens with Sesame", "nobody but us knows Sesame", "thinking of Sesame")
OPERATION = "gen_ai.operation.name"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"tool_modules": [HERE]})


@pytest.fixture
def heard() -> Iterator[Heard]:
    with Heard().listening() as listening:
        yield listening


async def ask(house: House, *replies: Any, **config: Any) -> Any:
    scout = await house.agent("Scout", **config)
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(*replies)
    await house.owner.say(space, WORDS[0])
    await house.until_idle()
    [run] = await house.runs()
    return run


async def test_a_run_is_an_invocation_of_its_agent_with_its_requests_and_calls_below_it(
    house: House, heard: Heard
) -> None:
    """D7"""
    first = calls(("get_memories", {}), ("send_message", {"text": WORDS[1]}))
    first.usage = (120, 100, 12)
    run = await ask(house, first, silent(WORDS[2]))
    [whole] = heard.spans("invoke_agent")
    agent = {
        "gen_ai.agent.id": run["agentId"],
        "gen_ai.agent.name": "Scout",
        "gen_ai.conversation.id": run["trigger"]["spaceId"],
        "majlis.run.id": run["id"],
    }
    model = {"gen_ai.provider.name": "scripted", "gen_ai.request.model": "model"}
    assert whole.name == "invoke_agent Scout"
    assert whole.parent is None
    assert whole.status.status_code is StatusCode.UNSET
    expected = {OPERATION: "invoke_agent", **agent, "majlis.run.attempts": 1, "majlis.cause.id": run["causeId"]}
    assert expected.items() <= told(whole).items()
    requests, made = heard.spans("chat "), heard.spans("execute_tool ")
    assert {span.parent.span_id for span in (*requests, *made) if span.parent} == {id_of(whole)}
    assert {span.context.trace_id for span in (*requests, *made, whole) if span.context} == {whole.context.trace_id}
    assert [span.name for span in made] == ["execute_tool get_memories", "execute_tool send_message"]
    assert [told(span)["gen_ai.tool.name"] for span in made] == ["get_memories", "send_message"]
    assert all(span.kind is SpanKind.CLIENT for span in requests)
    usage = [(told(span)["gen_ai.usage.input_tokens"], told(span)["gen_ai.usage.output_tokens"]) for span in requests]
    assert usage == [(120, 12), (100, 10)]
    assert told(requests[0])["gen_ai.usage.cache_read.input_tokens"] == 100
    for span in requests:
        assert {OPERATION: "chat", **agent, **{key: told(whole)[key] for key in model}}.items() <= told(span).items()
        assert told(span)["server.address"] == "127.0.0.1"
        assert 0 < told(span)["gen_ai.response.time_to_first_chunk"] < (span.end_time or 0) - (span.start_time or 0)
    assert {*told(made[0])} == {OPERATION, "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.type", *agent}


async def test_spans_contain_no_text_of_messages_or_models(house: House, heard: Heard) -> None:
    """D7"""
    await ask(house, say(WORDS[1]), silent(WORDS[2]))
    assert len(heard.spans("invoke_agent")) == 1
    assert "Sesame" not in heard.everything()


async def test_a_setting_adds_the_texts_but_never_secrets(house: House) -> None:
    """D7"""
    with Heard().listening(content=True) as heard:
        deploy = call("deploy", version="1.2", password="open-Sesame-please")
        await ask(house, deploy, say(WORDS[1]), silent(), tools=[tool("deploy", inputSchema=SCHEMA)])
    first, second, _ = heard.spans("chat ")
    assert WORDS[0] in told(first)["gen_ai.input.messages"]
    [said] = json.loads(told(second)["gen_ai.output.messages"])
    assert said["parts"][0]["name"] == "send_message"
    assert said["parts"][0]["arguments"] == {"text": WORDS[1]}
    made = heard.spans("execute_tool deploy")[0]
    assert "1.2" in told(made)["gen_ai.tool.call.arguments"]
    assert "open-Sesame-please" not in heard.everything()


async def test_each_try_of_a_failing_model_and_its_run_say_how_they_failed(house: House, heard: Heard) -> None:
    """D7"""
    house.world.gateway.engine.retry_seconds = (0,)
    run = await ask(house, Reply(status=500, text=WORDS[1]), Reply(status=500, text=WORDS[1]), limits={"attempts": 1})
    tries = heard.spans("chat ")
    assert [span.status.status_code for span in tries] == [StatusCode.ERROR] * 2
    assert {told(span)["error.type"] for span in tries} == {run["error"]["code"]}
    [whole] = heard.spans("invoke_agent")
    assert whole.status.status_code is StatusCode.ERROR
    assert told(whole)["error.type"] == run["error"]["code"]
    assert "Sesame" not in heard.everything()
    [point] = heard.points("gen_ai.invoke_agent.duration")
    assert dict(point.attributes or {})["error.type"] == run["error"]["code"]


async def test_a_failed_call_says_so_and_does_not_fail_the_run(house: House, heard: Heard) -> None:
    """D7"""
    tried = calls(
        ("send_message", {"txt": WORDS[1]}), ("open_safe", {"code": WORDS[1]}), ("explode", {"password": WORDS[1]})
    )
    await ask(house, tried, silent(), tools=[tool("explode")])
    codes = {told(span)["gen_ai.tool.name"]: told(span)["error.type"] for span in heard.spans("execute_tool")}
    assert codes == {"send_message": "invalid_input", "open_safe": "unknown_tool", "explode": "tool_failed"}
    assert heard.spans("invoke_agent")[0].status.status_code is StatusCode.UNSET
    assert "Sesame" not in heard.everything()


async def test_a_database_error_takes_no_words_along(house: House, heard: Heard) -> None:
    """D7"""

    async def meanwhile(asked: Asked) -> Reply:
        """Another worker has the run now and has written this step: ours violates the journal's key."""
        [run] = await house.runs()
        entry = Entry(0, "model", 0, output={"text": "", "calls": []})
        await house.world.gateway.db.write(write_entries, run["id"], [entry])
        return say(WORDS[1])

    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(meanwhile)
    await house.owner.say(space, WORDS[0])
    await until(lambda: heard.spans("invoke_agent"))
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    assert "Sesame" not in heard.everything()


async def test_the_request_that_caused_a_run_is_linked_to_it_and_continues_its_callers_trace(
    house: House, heard: Heard
) -> None:
    """D7"""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(silent())
    trace_id, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    path, headers = f"/api/spaces/{space}/messages", {"traceparent": f"00-{trace_id}-{caller}-01"}
    posted = await house.owner.http.post(path, json={"text": WORDS[0]}, headers=headers)
    assert posted.is_success
    await house.until_idle()
    [request] = [span for span in heard.spans("POST /api/spaces/{space_id}/messages") if span.parent is not None]
    assert f"{request.parent.span_id:016x}" == caller if request.parent else False
    assert request.context is not None
    assert f"{request.context.trace_id:032x}" == trace_id
    assert told(request) == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/api/spaces/{space_id}/messages",
        "http.response.status_code": 201,
    }
    [whole] = heard.spans("invoke_agent")
    assert linked(whole) == {id_of(request)}
    assert whole.parent is None


async def test_runs_that_agents_cause_and_answers_that_resume_runs_are_linked_too(house: House, heard: Heard) -> None:
    """D7"""
    scout, judge = await house.agent("Scout"), await house.agent("Judge")
    space = await house.space("Project Alpha", scout, judge, triggers="mentioned")
    house.model.script = by_agent(
        {"Scout": [say("@Judge is it good?", wait=True), silent()], "Judge": [say("@Scout yes"), silent()]}
    )
    await house.owner.say(space, "@Scout look")
    await house.until_idle()
    question, answered = (
        next(span for span in heard.spans("execute_tool send_message") if told(span)["gen_ai.agent.name"] == name)
        for name in ("Scout", "Judge")
    )
    [judged] = heard.spans("invoke_agent Judge")
    assert linked(judged) == {id_of(question)}
    begun, resumed = heard.spans("invoke_agent Scout")
    assert id_of(answered) not in linked(begun)
    assert id_of(answered) in linked(resumed)


async def test_the_answer_to_a_card_is_linked_to_the_run_that_it_resumes(house: House, heard: Heard) -> None:
    """D7"""
    _, _, card = await asked(house, silent())
    assert (await submit(house.owner, card, {"approved": True})).is_success
    await house.until_idle()
    [answered] = heard.spans("POST /api/runs/{run_id}/tool-results")
    begun, resumed = heard.spans("invoke_agent")
    assert id_of(answered) not in linked(begun)
    assert linked(resumed) == linked(begun) | {id_of(answered)}


async def test_requests_that_search_or_fail_tell_neither_their_words_nor_their_addresses(
    house: House, heard: Heard
) -> None:
    """D7"""
    await house.owner.get("/api/search", q="Sesame")
    await house.owner.post("/hooks/Sesame", {"text": "Sesame"})
    await house.owner.get("/api/messages/msg_Sesame")
    await house.owner.get("/api/health")
    names = [span.name for span in heard.spans() if span.kind is SpanKind.SERVER]
    assert names == ["GET /api/search", "POST /hooks/{address}", "GET /api/messages/{message_id}"]
    assert "Sesame" not in heard.everything()


async def test_tokens_and_durations_are_metrics_of_the_conventions(house: House, heard: Heard) -> None:
    """D7"""
    reply = say(WORDS[1])
    reply.usage = (120, 100, 12)
    await ask(house, reply, silent())
    used = {
        dict(point.attributes or {})["gen_ai.token.type"]: (point.count, point.sum)
        for point in heard.points("gen_ai.client.token.usage")
    }
    assert used == {"input": (2, 220), "output": (2, 22)}
    [point] = heard.points("gen_ai.client.operation.duration")
    assert point.count == 2
    assert dict(point.attributes or {})[OPERATION] == "chat"
    assert "majlis.run.id" not in dict(point.attributes or {})
    assert [each.count for each in heard.points("gen_ai.execute_tool.duration")] == [1]
    assert [each.count for each in heard.points("gen_ai.invoke_agent.duration")] == [1]
