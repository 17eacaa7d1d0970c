"""T12, J7: a failing model delays an event and never loses it; people read what they can do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import messages
from tests.model_server import Asked, ModelServer, Reply, call, calls, say, sequence, silent
from tests.runs.failures import failing, notices
from tests.runs.house import House, once, timeline
from tests.world import serve_world

pytestmark = pytest.mark.usefixtures("standing_clock")


BROKEN = Reply(raw=b'data: {"choices": [{"delta": {"content": "he')


async def test_t12_a_failed_run_is_offered_again_and_the_second_try_succeeds(house: House) -> None:
    space, message = await failing(house, Reply(status=500), say("Here I am."))
    [failed] = await house.runs()
    assert (failed["status"], failed["error"]["code"]) == ("failed", "model_unavailable")
    [delivery] = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    assert (delivery["state"], delivery["attempts"], delivery["nextAttemptAt"] is None) == ("pending", 1, False)
    assert await notices(house, space) == []
    house.advance(1)
    await house.model.until_asked(3)
    await house.until_idle()
    first, second = await house.runs()
    assert (first["status"], second["status"]) == ("failed", "completed")
    assert second["trigger"]["messageId"] == message["id"]
    assert await house.deliveries(message) == [("Scout", "done")]
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here I am.")]


async def test_t12_the_third_failure_is_the_last_and_the_space_says_so(house: House) -> None:
    space, message = await failing(house, *[Reply(status=503)] * 4)
    # Not before the back-off of 1 s, then 4 s.
    house.advance(0.5)
    await house.until_idle()
    assert len(await house.runs()) == 1
    house.advance(0.5)
    await house.model.until_asked(2)
    await house.until_idle()
    house.advance(3.5)
    await house.until_idle()
    assert len(await house.runs()) == 2
    house.advance(0.5)
    await house.model.until_asked(3)
    await house.until_idle()
    house.advance(3600)
    await house.until_idle()
    assert [run["status"] for run in await house.runs()] == ["failed"] * 3
    assert await house.deliveries(message) == [("Scout", "failed")]
    [notice] = await notices(house, space)
    assert notice["replyTo"] == message["id"]
    assert notice["text"] == "Scout couldn't answer. An admin has been notified."
    [*_, failure] = await house.owner.ok("GET", "/api/failures")
    assert failure["error"]["message"].startswith("The model server at 127.0.0.1:")
    assert len(house.model.asked) == 3


async def test_t12_limits_attempts_says_how_often(house: House) -> None:
    space, message = await failing(house, Reply(status=500), limits={"attempts": 1})
    assert await house.deliveries(message) == [("Scout", "failed")]
    assert len(await notices(house, space)) == 1


async def test_t12_a_retry_is_shown_what_the_first_try_has_done(house: House) -> None:
    memory = {"memories": [{"key": "colour", "value": "blue"}]}
    space, message = await failing(
        house, call("set_memories", **memory), say("Working on it."), Reply(status=500), silent("done already")
    )
    house.advance(1)
    await house.model.until_asked(4)
    await house.until_idle()
    assert timeline(house.model.asked[3])[0] == 'Owner: "Scout?"  [NEW] ← TRIGGER'
    did, said = timeline(house.model.asked[3])[1:]
    assert did.startswith('You: called set_memories({"memories":[{"key":"colour","value":"blue"}]}) → {"success":true')
    assert said == 'You: called send_message("Working on it.")'
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Working on it.")]
    # The first attempt has replied, so no notice says otherwise.
    assert await house.deliveries(message) == [("Scout", "done")]


async def test_t12_a_third_try_is_shown_what_both_earlier_ones_have_done(house: House) -> None:
    await failing(house, say("one"), Reply(status=500), say("two"), Reply(status=500), silent())
    for asked, seconds in ((4, 1), (5, 4)):
        house.advance(seconds)
        await house.model.until_asked(asked)
        await house.until_idle()
    assert timeline(house.model.asked[4]) == [
        'Owner: "Scout?"  [NEW] ← TRIGGER',
        'You: called send_message("one")',
        'You: called send_message("two")',
    ]


async def test_t12_every_message_is_covered_when_a_busy_agent_fails(house: House) -> None:
    house.try_models_once()
    scout = await house.agent("Scout", limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    fails = iter([True, False, True, False])
    house.model.script = lambda asked: Reply(status=500) if next(fails, False) else once(say("ok"))(asked)
    messages = [await house.owner.say(space, f"message {n}") for n in range(5)]
    await house.until_idle()
    house.advance(30)
    await until_settled(house, messages)
    covered = {run["trigger"]["messageId"] for run in await house.runs() if run["status"] == "completed"}
    assert covered == {message["id"] for message in messages}


async def test_t12_a_run_that_fails_after_it_was_resumed_goes_on_once(house: House) -> None:
    """Question and answer are both pending again; one run must handle both."""
    house.try_models_once()
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    parts = iter([say("Well?", wait=True), Reply(status=500), say("Thanks.")])
    house.model.script = lambda asked: silent() if asked.step else next(parts, say("Thanks again."))
    question = await house.owner.say(space, "Ask me")
    await house.until_waiting()
    answer = await house.owner.say(space, "Fine")
    await house.until_idle()
    house.advance(1)
    await house.model.until_asked(3)
    await house.until_idle()
    said = [text for _, text in await house.texts(space)]
    assert said == ["Ask me", "Well?", "Fine", "Thanks."]
    assert await house.deliveries(question) == await house.deliveries(answer) == [("Scout", "done")]


async def test_j7_a_refused_key_fails_at_once_and_tells_what_to_do_without_the_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", "sk-very-secret-key-1234567890")
    settings = settings.model_copy(update={"model_env": ["SCRIPTED_KEY"], "model_hosts": ["127.0.0.1"]})
    async with ModelServer() as model, serve_world(settings) as world:
        house = House(world, model)
        choice = {**model.model, "apiKeyEnv": "SCRIPTED_KEY"}
        scout = await world.agent("Scout", model=choice)
        space = await house.space("Project Alpha", scout)
        model.script = sequence(Reply(status=401, text="Incorrect API key: sk-very-secret-key-1234567890"))
        message = await house.owner.say(space, "Scout?")
        await house.until_idle()
        assert model.asked[0].headers["authorization"] == "Bearer sk-very-secret-key-1234567890"
        [run] = await house.runs()
        assert (run["status"], run["error"]["code"]) == ("failed", "model_unauthorized")
        assert "SCRIPTED_KEY" in run["error"]["message"]
        [notice] = await notices(house, space)
        assert notice["text"] == "Scout couldn't answer. An admin has been notified."
        assert await house.deliveries(message) == [("Scout", "failed")]
        everything = [run, await house.owner.history(space)]
        everything += [await house.owner.ok("GET", f"/api/runs/{run['id']}/{part}") for part in ("steps", "context")]
        assert "sk-very-secret" not in json.dumps(everything)
        # A retry would not help.
        house.advance(3600)
        await house.until_idle()
        assert len(model.asked) == 1


async def test_j7_an_unknown_model_fails_at_once(house: House) -> None:
    space, message = await failing(house, Reply(status=404, text="no such model"))
    [run] = await house.runs()
    assert (run["status"], run["error"]["code"]) == ("failed", "model_not_found")
    assert '"scripted"' in run["error"]["message"]
    assert await house.deliveries(message) == [("Scout", "failed")]
    assert len(await notices(house, space)) == 1


async def test_j7_too_many_requests_are_tried_again_within_the_run_after_the_time_asked_for(house: House) -> None:
    house.world.gateway.engine.retry_seconds = (0.01,)
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    times: list[float] = []

    def script(asked: Asked) -> Reply:
        times.append(asyncio.get_running_loop().time())
        return [Reply(status=429, headers={"Retry-After": "0.3"}), say("Here."), silent()][len(times) - 1]

    house.model.script = script
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    assert times[1] - times[0] >= 0.3
    [run] = await house.runs()
    assert (run["status"], run["attempts"]) == ("completed", 1)
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]


async def test_j7_a_server_error_is_retried_within_the_run_before_it_is_reported(house: House) -> None:
    house.world.gateway.engine.retry_seconds = (0.01, 0.01)
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(Reply(status=500), BROKEN, say("Here."), silent())
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["error"]) == ("completed", None)
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]


@pytest.mark.parametrize(
    "broken",
    [
        BROKEN,
        Reply(raw=b"data: this is no JSON\n\n"),
        Reply(raw=b"data: [1, 2]\n\n"),
        Reply(raw=b'data: {"choices": 7}\n\ndata: [DONE]\n\n'),
        Reply(calls=[("send_message", {"text": "cut in the middle of what it says"})], hang_up=True, raw=b"data: {"),
    ],
    ids=["half", "no-json", "no-object", "odd", "hang-up"],
)
async def test_j7_a_malformed_stream_fails_the_run_and_is_offered_again(house: House, broken: Reply) -> None:
    space, message = await failing(house, broken, say("Here."))
    [run] = await house.runs()
    assert (run["status"], run["error"]["code"]) == ("failed", "model_broken_stream")
    assert await house.deliveries(message) == [("Scout", "pending")]
    house.advance(1)
    await house.model.until_asked(3)
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]


async def test_j7_words_that_were_streaming_when_the_model_broke_off_disappear(house: House) -> None:
    house.try_models_once()
    space = await house.space("Project Alpha", await house.agent("Scout"))
    start = {"choices": [{"delta": {"tool_calls": [_piece(id="c1", name="send_message", arguments="")]}}]}
    more = {"choices": [{"delta": {"tool_calls": [_piece(arguments='{"text": "Half a sen')]}}]}
    raw = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in (start, more))
    house.model.script = sequence(Reply(raw=raw))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        delta = await follower.until("tool-input-delta")
        assert delta.data["textDelta"] == "Half a sen"
        await follower.until("tool-call.error", streamId=delta.data["streamId"])
        failed = await follower.until("run.failed")
        assert failed.data["error"]["code"] == "model_broken_stream"
    assert await house.texts(space) == [("Owner", "Scout?")]


async def test_j7_malformed_arguments_are_a_result_that_the_model_can_mend(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    bad = {"choices": [{"delta": {"tool_calls": [_piece(id="c1", name="send_message", arguments='{"text": oops')]}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    raw = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in (bad, end)) + b"data: [DONE]\n\n"
    house.model.script = sequence(Reply(raw=raw), call("send_message", txt="typo"), say("Here."), silent())
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    malformed, misnamed, sent = house.model.asked[3].results
    assert malformed["success"] is misnamed["success"] is False
    assert malformed["error"].startswith("send_message was not called: its input is invalid")
    assert "txt" in misnamed["error"]
    assert "text" in misnamed["error"]
    assert sent["success"] is True
    [run] = await house.runs()
    assert run["status"] == "completed"
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    assert [step["state"] for step in steps if step["kind"] == "tool"] == ["error", "error", "done"]
    assert steps[1]["input"] == {"malformed": '{"text": oops'}


async def test_j7_an_unknown_tool_is_a_result_that_names_the_known_ones(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(calls(("launch_rocket", {"to": "moon"}), ("send_message", {"text": "Here."})))
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    unknown, sent = house.model.asked[1].results
    assert unknown["error"].startswith("There is no tool named launch_rocket. Your tools are: send_message,")
    assert sent["success"] is True
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]


async def test_j7_an_internal_error_is_reported_as_such_and_retried(house: House) -> None:
    space, message = await broken_at_its_message(house, ValueError("a bug of ours"))
    [run] = await house.runs()
    assert (run["status"], (run["error"] or {}).get("code")) == ("failed", "internal")
    assert await house.deliveries(message) == [("Scout", "pending")]
    house.advance(1)
    await house.model.until_asked(2)
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]


async def test_t12_a_timeout_of_the_database_is_neither_a_limit_nor_an_attempt_of_the_run(house: House) -> None:
    """It once completed the run as if it had reached its time limit, and later cost an attempt."""
    space, message = await broken_at_its_message(house, TimeoutError("the database took too long"))
    await house.model.until_asked(2)
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["reason"], run["attempts"]) == ("completed", None, 1)
    assert await house.deliveries(message) == [("Scout", "done")]
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Here.")]


async def test_j2_a_retry_sees_what_was_sent_before_however_much_was_said_since(house: House) -> None:
    """After more than a window of messages its own calls were only counted, and it sent its message again."""
    house.try_models_once()
    scout = await house.agent("Scout", window=4)
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    house.model.script = sequence(say("The first part is done."), Reply(status=500), silent())
    message = await house.owner.say(space, "@Scout please begin")
    await house.until_idle()
    for n in range(10):
        await house.owner.say(space, f"remark {n}")
    house.advance(1)
    await house.model.until_asked(3)
    await house.until_idle()
    assert 'You: called send_message("The first part is done.")' in house.model.asked[2].text
    assert await house.deliveries(message) == [("Scout", "done")]


async def broken_at_its_message(house: House, error: Exception) -> tuple[str, Any]:
    """An agent whose first message fails to be stored."""
    broken = iter([None, error])

    def fail_once(_: object, statement: object, *__: object) -> None:
        if isinstance(statement, sa.Insert) and statement.table is messages and (error := next(broken, None)):
            raise error

    engine = house.world.gateway.db.engine
    sa.event.listen(engine, "before_execute", fail_once)
    # Hot statements use SQLAlchemy only while this event has a listener.
    sa.event.listen(engine, "before_cursor_execute", lambda *_: None)
    return await failing(house, say("Here."), say("Here."))


async def test_j7_text_without_a_message_is_noted_on_the_run(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(silent("Hello Owner! I am here."), silent())
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["notes"]) == ("completed", ["The model wrote text but did not send a message."])
    house.model.script = sequence(silent(), say("Here."), silent("That was that."))
    await house.owner.say(space, "silence")
    await house.until_idle()
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    assert [run["notes"] for run in (await house.runs())[1:]] == [[], []]


async def test_t12_an_answer_is_settled_too_when_the_agent_is_removed_before_the_next_try(house: House) -> None:
    """The question is not retried any more, so the answer that waited for it must not stay open."""
    house.try_models_once()
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Well?", wait=True), Reply(status=500))
    question = await house.owner.say(space, "Ask me")
    await house.until_waiting()
    answer = await house.owner.say(space, "Fine")
    await house.until_idle()
    await house.remove(space, scout)
    house.advance(1)
    await house.until_idle()
    assert await house.deliveries(question) == [("Scout", "passed")]
    assert await house.deliveries(answer) == [("Scout", "passed")]


async def test_t12_an_answer_in_another_space_is_offered_on_its_own_if_its_question_is_dropped(house: House) -> None:
    """The agent was removed from the space of the question, not from that of the answer."""
    house.try_models_once()
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta", scout)
    house.model.script = sequence(
        call("enter_space", spaceId=beta), say("Well?", wait=True), Reply(status=500), say("Thanks.")
    )
    question = await house.owner.say(alpha, "Ask in Beta")
    await house.until_waiting()
    answer = await house.owner.say(beta, "Fine")
    await house.until_idle()
    await house.remove(alpha, scout)
    house.advance(1)
    await house.model.until_asked(5)
    await house.until_idle()
    assert await house.deliveries(question) == [("Scout", "passed")]
    assert await house.deliveries(answer) == [("Scout", "done")]
    assert [text for _, text in await house.texts(beta)] == ["Well?", "Fine", "Thanks."]


async def until_settled(house: House, messages: list[Any]) -> None:
    """Moves the clock whenever the gateway is idle, until no delivery is pending."""
    for _ in range(10):
        await house.until_idle()
        states = [state for message in messages for _, state in await house.deliveries(message)]
        if {*states} <= {"done", "failed"}:
            return
        house.advance(20)
    raise AssertionError("some message is still owed")


def _piece(index: int = 0, id: str | None = None, **function: str) -> dict[str, Any]:
    return {"index": index, **({"id": id} if id else {}), "function": function}


async def test_j7_a_hung_model_frees_the_slot_and_the_run_says_what_to_do(house: House) -> None:
    """One request, not three: the event backs off, and the agent can do something else meanwhile."""
    scout = await house.agent("Scout", limits={"firstByteSeconds": 1, "concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(Reply(gate=asyncio.Event()), say("Here I am."))
    message = await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["error"]["code"], len(house.model.asked)) == ("failed", "model_hung", 1)
    assert "did not begin to answer for 1 s" in run["error"]["message"]
    assert "raise limits.firstByteSeconds" in run["error"]["message"]
    house.advance(1)
    await house.model.until_asked(2)
    await house.until_idle()
    assert await house.deliveries(message) == [("Scout", "done")]
