"""A loaded state plus the events since then equals the state that would be loaded now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from copy import deepcopy
from typing import Any

import pytest

from majlis.client import ClientState, Event, MajlisClient
from majlis.client.shapes import MessageJson, SpaceJson
from tests.conditions import PATIENCE_SECONDS
from tests.world import World

ME, SARA = "ent_me", "ent_sara"


async def load(client: MajlisClient) -> ClientState:
    state = ClientState((await client.me())["id"])
    spaces = await client.list_spaces()
    state.load(spaces, {space["id"]: await history(client, space["id"]) for space in spaces})
    return state


async def history(client: MajlisClient, space_id: str) -> list[MessageJson]:
    return (await client.list_messages(space_id, limit=200))["messages"]


async def events_until(events: AsyncIterator[Event], text: str) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for event in events:
            found.append(event)
            if event.type == "space.message" and event.data["message"]["text"] == text:
                return found
    raise AssertionError("the stream ended")


async def test_loaded_state_and_events_are_what_would_be_loaded_now(world: World) -> None:
    """Applies every type of event from the stream of all spaces, then applies them again, which changes nothing."""
    owner = world.owner
    sara, omar = await world.person("Sara"), await world.person("Omar")
    lobby = await owner.create_space("Lobby", sara)
    gone = await owner.create_space("Gone", sara)
    await owner.say(lobby, "hello")
    async with MajlisClient(world.base_url, sara.token) as client, aclosing(client.follow()) as stream:
        assert (await anext(stream)).type == "connected"
        state = await load(client)

        said = await owner.say(lobby, "one")
        await sara.ok("POST", f"/api/spaces/{lobby}/read", {"lastMessageId": said["id"]})
        await owner.ok("POST", f"/api/spaces/{lobby}/members", {"entityId": omar.id, "role": "viewer"})
        await owner.ok("POST", f"/api/spaces/{lobby}/members", {"entityId": omar.id, "role": "member"})
        await omar.say(lobby, "two")
        await owner.ok("PATCH", f"/api/entities/{omar.id}", {"name": "Umar"})
        await owner.ok("PATCH", f"/api/spaces/{lobby}", {"name": "Hall", "description": "Large"})
        await owner.ok("POST", f"/api/spaces/{lobby}/phase", {"phase": "design"})
        await owner.ok("DELETE", f"/api/spaces/{lobby}/members/{omar.id}")
        await sara.say(lobby, "three")
        await owner.say(lobby, "four")
        await owner.ok("DELETE", f"/api/spaces/{gone}/members/{sara.id}")
        new = await owner.create_space("New", sara)
        await owner.say(new, "the end")
        seen = await events_until(stream, "the end")
        for event in seen:
            state.apply(event)
        assert state.to_fetch == {new}
        state.load_space(await client.get_space(new), await history(client, new))

        fresh = await load(client)
        assert state == fresh
        assert fresh.spaces[lobby].unread == 1
        assert gone not in state.spaces
        for event in seen:
            if event.data["spaceId"] != gone:
                state.apply(event)
        assert state == fresh
    types = {"message", "read", "member.joined", "member.left", "member.updated", "updated"}
    assert {event.type for event in seen} == {f"space.{type}" for type in types}


async def test_the_stream_of_one_space_keeps_that_space(world: World) -> None:
    sara = await world.person("Sara")
    lobby = await world.owner.create_space("Lobby", sara)
    async with MajlisClient(world.base_url, sara.token) as client, aclosing(client.follow(lobby)) as stream:
        assert (await anext(stream)).type == "connected"
        state = await load(client)
        await world.owner.say(lobby, "one")
        await sara.say(lobby, "two")
        for event in await events_until(stream, "two"):
            state.apply(event)
        assert state == await load(client)


def test_a_message_that_is_known_changes_nothing() -> None:
    state = loaded(message(1), message(2))
    before = deepcopy(state)
    state.apply(spoken(message(1)))
    state.apply(spoken(message(2, text="forged")))
    assert state == before


def test_messages_older_than_the_loaded_ones_are_ignored() -> None:
    state = loaded(message(5), message(6))
    state.apply(spoken(message(3)))
    assert list(messages(state)) == [5, 6]


def test_a_history_read_before_or_after_its_space_is_made_whole() -> None:
    early = ClientState(ME)
    early.load([space(last=message(3), seen=0)], {"spc_1": [message(1), message(2)]})
    early.apply(spoken(message(3)))
    late = ClientState(ME)
    late.load([space(last=message(1), seen=0)], {"spc_1": [message(1), message(2), message(3)]})
    assert early == late
    assert list(messages(early)) == [1, 2, 3]
    assert early.spaces["spc_1"].unread == 3


def test_without_a_history_only_the_last_message_is_kept() -> None:
    state = ClientState(ME)
    state.load([space(last=message(1))])
    state.apply(spoken(message(2)))
    assert state.spaces["spc_1"].messages is None
    assert state.spaces["spc_1"].last_message == message(2)


def test_a_hole_means_that_the_space_has_to_be_fetched() -> None:
    state = loaded(message(1))
    state.apply(spoken(message(3)))
    assert state.to_fetch == {"spc_1"}


def test_own_messages_count_as_seen_and_others_as_unread() -> None:
    state = loaded(message(1), seen=1)
    state.apply(spoken(message(2)))
    assert state.spaces["spc_1"].unread == 1
    state.apply(spoken(message(3, sender=ME)))
    assert (state.spaces["spc_1"].unread, state.spaces["spc_1"].last_seen_message_id) == (0, "msg_3")


def test_a_read_position_never_moves_back_and_may_come_before_its_message() -> None:
    state = loaded(message(1), message(2), seen=0)
    state.apply(read(2))
    state.apply(read(1))
    assert state.spaces["spc_1"].unread == 0
    state.apply(read(3))
    assert state.spaces["spc_1"].unread == 0
    state.apply(spoken(message(3)))
    assert (state.spaces["spc_1"].unread, state.spaces["spc_1"].last_seen_message_id) == (0, "msg_3")


def test_the_read_position_of_another_member_is_ignored() -> None:
    state = loaded(message(1), seen=0)
    state.apply(read(1, who=SARA))
    assert state.spaces["spc_1"].unread == 1


def test_a_tool_message_gets_its_result_once_and_keeps_it() -> None:
    running, complete = message(2, tool="running"), message(2, tool="complete")
    state = loaded(message(1), running)
    state.apply(spoken(complete))
    state.apply(spoken(running))
    assert messages(state)[2] == complete == state.spaces["spc_1"].last_message


def test_a_new_name_is_on_what_was_said_before() -> None:
    state = loaded(message(1, sender=SARA))
    state.apply(joined(SARA, "Sara", "2026-01-02"))
    state.apply(updated(SARA, "Sarah", "2026-01-02"))
    assert messages(state)[1]["sender"]["name"] == "Sarah"
    state.apply(spoken(message(2, sender=SARA)))
    assert messages(state)[2]["sender"]["name"] == "Sarah"


def test_events_that_the_loaded_space_already_contains_change_nothing() -> None:
    state = loaded()
    state.apply(joined(SARA, "Sara", "2026-01-03", number=12))
    before = deepcopy(state)
    for stale in (
        joined("ent_x", "X", "2026-01-02", number=9),
        updated(SARA, "Old", "2026-01-02", number=11),
        joined(SARA, "Sara", "2026-01-03", number=12),
        Event("", "space.member.left", {"spaceId": "spc_1", "entityId": SARA, "eventSeq": 10}),
        Event("", "space.updated", {"spaceId": "spc_1", "space": {"name": "Old"}, "eventSeq": 4}),
    ):
        state.apply(stale)
    assert state == before
    state.apply(joined("ent_first", "First", "2025-01-01", number=13))
    assert list(state.spaces["spc_1"].members) == ["ent_first", ME, SARA]


def test_joining_oneself_asks_for_the_space_and_leaving_drops_it() -> None:
    state = loaded()
    state.apply(joined(ME, "Me", "2026-01-01", number=1))
    assert (state.to_fetch, list(state.spaces)) == (set(), ["spc_1"])
    left = Event("", "space.member.left", {"spaceId": "spc_1", "entityId": ME, "eventSeq": 11})
    state.apply(left)
    state.apply(left)
    assert (state.to_fetch, list(state.spaces)) == (set(), [])
    state.apply(joined(ME, "Me", "2026-01-05"))
    state.apply(spoken(message(7)))
    assert (state.to_fetch, list(state.spaces)) == ({"spc_1"}, [])
    state.apply(left)
    assert state.to_fetch == set()


@pytest.mark.parametrize("type", ["connected", "resync", "disconnected", "agent.active", "something.new"])
def test_events_that_say_nothing_about_spaces_change_nothing(type: str) -> None:
    state = loaded(message(1))
    before = deepcopy(state)
    state.apply(Event("", type, {"type": type, "spaceId": "spc_1"}))
    assert state == before


def loaded(*said: MessageJson, seen: int = 0) -> ClientState:
    state = ClientState(ME)
    state.load([space(last=said[-1] if said else None, seen=seen)], {"spc_1": list(said)})
    return state


def messages(state: ClientState) -> dict[int, MessageJson]:
    found = state.spaces["spc_1"].messages
    assert found is not None
    return found


def space(last: MessageJson | None, seen: int = 0) -> SpaceJson:
    return {
        "id": "spc_1",
        "name": "Lobby",
        "description": "",
        "triggers": "everyone",
        "orchestratorId": None,
        "maxChainDepth": None,
        "summaries": "on",
        "phase": None,
        "direct": False,
        "gatherMillis": 12_000,
        "paused": False,
        "toolPolicy": [],
        "createdAt": "2026-01-01",
        "role": "admin",
        "members": [member(ME, "Me", "2026-01-01")],
        "unreadCount": (last["seq"] if last else 0) - seen,
        "unreadMentions": [],
        "lastMessage": last,
        "lastSeenMessageId": f"msg_{seen}" if seen else None,
        "lastSeenSeq": seen,
        "eventSeq": 10,
    }


def message(seq: int, text: str = "hello", sender: str = SARA, tool: str | None = None) -> MessageJson:
    made: Any = {
        "id": f"msg_{seq}",
        "spaceId": "spc_1",
        "seq": seq,
        "sender": {"id": sender, "name": "?", "type": "human"},
        "kind": "tool" if tool else "text",
        "text": text,
        **({"tool": {"callId": "c", "name": "t", "input": {}, "output": None, "status": tool}} if tool else {}),
    }
    if sender == ME:
        made["sender"]["name"] = "Me"
    found: MessageJson = made
    return found


def member(id: str, name: str, joined_at: str) -> Any:
    return {"id": id, "entityId": id, "name": name, "type": "human", "role": "member", "joinedAt": joined_at}


def spoken(said: MessageJson) -> Event:
    return Event("", "space.message", {"spaceId": "spc_1", "message": said})


def read(seq: int, who: str = ME) -> Event:
    data = {"spaceId": "spc_1", "entityId": who, "lastSeenMessageId": f"msg_{seq}", "lastSeenSeq": seq}
    return Event("", "space.read", data)


def joined(id: str, name: str, joined_at: str, number: int = 11) -> Event:
    data = {"spaceId": "spc_1", "entityId": id, "member": member(id, name, joined_at), "eventSeq": number}
    return Event("", "space.member.joined", data)


def updated(id: str, name: str, joined_at: str, number: int = 12) -> Event:
    data = {"spaceId": "spc_1", "member": member(id, name, joined_at), "eventSeq": number}
    return Event("", "space.member.updated", data)
