"""M15: an agent's message streams to the space while the model writes it; nothing else does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.follower import Event, Follower
from tests.model_server import Reply, call, calls, say, sequence, silent
from tests.runs.house import House

TEXT = (
    'First of all, "quoted" words, a line\nbreak, a backslash \\, é, 漢字 and 😀 😀; then the rest of a long message.'
)


def deltas(follower: Follower, stream_id: str) -> list[Event]:
    return [e for e in follower.seen if e.type == "tool-input-delta" and e.data["streamId"] == stream_id]


def contiguous(pieces: list[Event]) -> str:
    """The text of deltas, which must follow each other without a gap."""
    text = ""
    for piece in pieces:
        assert piece.data["offset"] == len(text)
        text += piece.data["textDelta"]
    return text


async def test_m15_words_arrive_before_the_message_is_stored(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    reply = say(TEXT)
    reply.gate_mid = asyncio.Event()
    house.model.script = sequence(reply, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        start = await follower.until("tool-call.start")
        [run] = await house.runs()
        assert start.data["toolName"] == "send_message"
        assert (start.data["agentId"], start.data["runId"]) == (scout.id, run["id"])
        first = await follower.until("tool-input-delta", streamId=start.data["streamId"])
        assert TEXT.startswith(first.data["textDelta"])
        assert await house.texts(space) == [("Owner", "Scout?")]
        reply.gate_mid.set()
        stored = await follower.until_message(TEXT)
        assert stored.data["streamId"] == start.data["streamId"]
        complete = await follower.until("tool-call.complete", streamId=start.data["streamId"])
        assert complete.data["result"]["messageId"] == stored.data["message"]["id"]
    await house.until_idle()


async def test_m15_the_deltas_together_are_the_stored_text(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    reply = say(TEXT)
    reply.gate_mid = asyncio.Event()
    reply.piece = 1
    house.model.script = sequence(reply, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        start = await follower.until("tool-call.start")
        await follower.until("tool-input-delta")
        reply.gate_mid.set()
        await follower.until_message(TEXT)
        before_the_message = deltas(follower, start.data["streamId"])
        await follower.until("tool-call.complete")
    assert contiguous(before_the_message) == TEXT
    assert deltas(follower, start.data["streamId"]) == before_the_message
    await house.until_idle()


async def test_m15_many_small_pieces_become_few_deltas(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    text = "word " * 400
    reply = say(text)
    reply.piece = 3
    house.model.script = sequence(reply, silent())
    async with house.owner.follow(space) as follower:
        began = asyncio.get_running_loop().time()
        await house.owner.say(space, "Scout?")
        start = await follower.until("tool-call.start")
        await follower.until_message(text)
        seconds = asyncio.get_running_loop().time() - began
    # 670 pieces; at most 20 deltas a second, and the last one.
    assert len(deltas(follower, start.data["streamId"])) <= 20 * seconds + 2
    await house.until_idle()


async def test_m15_the_models_own_words_are_in_no_event(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    thinking = Reply(text="my private thoughts", calls=[("send_message", {"text": "Public."})])
    house.model.script = sequence(thinking, silent("more private thoughts"))
    async with sara.follow(space) as follower, sara.follow() as everywhere:
        await house.owner.say(space, "Scout?")
        await follower.until("run.completed")
        await everywhere.until("run.completed")
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "Public.")]
    events = json.dumps([event.data for event in (*follower.seen, *everywhere.seen)])
    assert "Public." in events
    assert "private thoughts" not in events
    [run] = await house.runs()
    shown = "".join([(await sara.get(f"/api/runs/{run['id']}{path}")).text for path in ("", "/steps", "/context")])
    assert "private thoughts" not in shown


async def test_m15_other_tools_and_other_arguments_stream_nothing(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(
        call("set_memories", memories=[{"key": "text", "value": "kept to myself"}]),
        calls(("send_message", {"wait": False, "text": "Said."})),
        silent(),
    )
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await follower.until("run.completed")
    streamed = [event for event in follower.seen if event.type.startswith("tool-")]
    assert {event.data["streamId"] for event in streamed} == {streamed[0].data["streamId"]}
    assert contiguous(deltas(follower, streamed[0].data["streamId"])) == "Said."
    assert "kept to myself" not in json.dumps([event.data for event in follower.seen])


async def test_m15_a_message_for_the_space_entered_just_before_it_goes_only_there(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta", scout)
    house.model.script = sequence(
        calls(("enter_space", {"spaceId": beta}), ("send_message", {"text": "for Beta only"})), silent()
    )
    async with house.owner.follow(alpha) as follower:
        await house.owner.say(alpha, "go to Beta")
        await follower.until("run.completed")
    assert "for Beta only" not in json.dumps([event.data for event in follower.seen])
    assert await house.texts(beta) == [("Scout", "for Beta only")]


async def test_m15_two_messages_of_one_answer_have_a_stream_each(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(
        calls(("send_message", {"text": "One message."}), ("send_message", {"text": "Another message."})), silent()
    )
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        await follower.until("run.completed")
    stored = {
        event.data["message"]["text"]: event.data["streamId"]
        for event in follower.seen
        if event.type == "space.message" and "streamId" in event.data
    }
    assert list(stored) == ["One message.", "Another message."]
    for text, stream_id in stored.items():
        assert contiguous(deltas(follower, stream_id)) == text


async def test_m15_a_refused_message_disappears(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    house.model.script = sequence(say("An answer to what?", messageId="msg_0000000000000000"), silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        start = await follower.until("tool-call.start")
        await follower.until("tool-call.error", streamId=start.data["streamId"])
        await follower.until("run.completed")
    assert await house.texts(space) == [("Owner", "Scout?")]


async def test_m15_a_later_client_gets_the_text_so_far_and_its_agent(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    reply = say(TEXT)
    reply.gate_mid = asyncio.Event()
    house.model.script = sequence(reply, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Scout?")
        delta = await follower.until("tool-input-delta")
        [run] = await house.runs()
        async with house.owner.follow(space) as later, house.owner.follow() as everywhere:
            for second in (later, everywhere):
                connected = await second.next()
                assert connected.type == "connected"
                assert connected.data["activeAgents"] == [{"agentId": scout.id, "runId": run["id"], "spaceId": space}]
                [stream] = connected.data["streams"]
                assert stream["streamId"] == delta.data["streamId"]
                assert stream["agentId"] == scout.id
                assert stream["text"]
                assert TEXT.startswith(stream["text"])
                second_text: Any = stream["text"]
            reply.gate_mid.set()
            await later.until_message(TEXT)
            # Offsets tell where each delta belongs, whatever a new client has already received.
            for event in deltas(later, delta.data["streamId"]):
                assert event.data["offset"] <= len(second_text)
                second_text = second_text[: event.data["offset"]] + event.data["textDelta"]
            assert second_text == TEXT
    await house.until_idle()
    async with house.owner.follow(space) as quiet:
        connected = await quiet.next()
        assert (connected.data["activeAgents"], connected.data["streams"]) == ([], [])


async def test_m15_a_person_who_is_not_a_member_gets_no_deltas(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout)
    own = await house.space("Sara's", sara)
    house.model.script = sequence(say("for members"), silent())
    async with sara.follow() as follower:
        await house.owner.say(space, "Scout?")
        await house.until_idle()
        await house.owner.say(own, "the end")
        await follower.until_message("the end")
    assert "for members" not in json.dumps([event.data for event in follower.seen])
    assert scout.id not in json.dumps([event.data for event in follower.seen])
