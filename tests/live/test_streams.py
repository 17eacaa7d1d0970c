"""Server-Sent Events: complete replay or resync, membership at all times, and slow readers."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.live import hub
from majlis.live.cursor import OVERLAP_MILLIS, GatewayCursor
from majlis.live.log import LoggedEvent
from majlis.live.replay import REPLAY_CHARACTERS, REPLAY_LIMIT
from majlis.settings import Settings
from majlis.spaces.post import Draft
from majlis.store.tables import events
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.follower import Event, Follower
from tests.world import Person, World, serve_world


@pytest.fixture
def hints_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is not polled: a hint arrives at once, or never."""
    monkeypatch.setattr(hub, "_POLL_SECONDS", 3600.0)


def follow(person: Person, space: str, whole: bool, last_id: str | None = None) -> Follower:
    return person.follow(None if whole else space, last_id)


def texts(seen: list[Event]) -> list[str]:
    return [event.data["message"]["text"] for event in seen if event.type == "space.message"]


async def test_the_first_event_is_connected_and_every_event_has_an_id(world: World, whole: bool) -> None:
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        first = await stream.next()
        assert first.type == "connected"
        assert first.id
        assert first.data == {"type": "connected", "activeAgents": [], "pendingToolCalls": [], "streams": []}


async def test_reconnecting_replays_exactly_what_was_missed(world: World, whole: bool) -> None:
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        await world.owner.say(space, "before")
        await stream.until_message("before")
        last_id = stream.last_id
    for n in range(5):
        await world.owner.say(space, f"missed {n}")
    async with follow(world.owner, space, whole, last_id) as stream:
        assert (await stream.next()).type == "connected"
        await stream.until_message("missed 4")
        await world.owner.say(space, "live")
        await stream.until_message("live")
        assert texts(stream.seen) == [*(f"missed {n}" for n in range(5)), "live"]
        assert not [event for event in stream.seen if event.type == "resync"]


async def test_any_event_id_can_be_resumed_from(world: World, whole: bool) -> None:
    """Not only the last one: each id identifies exactly what its client has seen."""
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        for n in range(6):
            await world.owner.say(space, f"m{n}")
        await stream.until_message("m5")
        marks = list(stream.seen)
    for mark in marks:
        known = texts(marks[: marks.index(mark) + 1])
        async with follow(world.owner, space, whole, mark.id) as stream:
            await stream.next()
            said = f"after {marks.index(mark)}"
            await world.owner.say(space, said)
            await stream.until_message(said)
            assert (known + texts(stream.seen))[:6] == [f"m{n}" for n in range(6)]
            assert "resync" not in [event.type for event in stream.seen]


@pytest.mark.parametrize("last_id", ["nonsense", "s-0-0-0", "a-x-y-z-", "s-7086q60g7x-zz-1", "1", "é" * 10, "a" * 5000])
async def test_an_id_that_means_nothing_here_is_answered_with_resync(world: World, whole: bool, last_id: str) -> None:
    space = await world.owner.create_space()
    path = "/api/events" if whole else f"/api/spaces/{space}/events"
    async with Follower(world.owner.http, f"{path}?lastEventId={last_id}") as stream:
        assert [(await stream.next()).type for _ in range(2)] == ["connected", "resync"]
        await world.owner.say(space, "live")
        await stream.until_message("live")


async def test_an_id_of_before_the_clock_was_set_back_is_answered_with_resync(world: World) -> None:
    """Events since then look older than they are, so nothing tells which of them are missing."""
    space = await world.owner.create_space()
    mark = GatewayCursor(world.owner.id, clock.now() + 2 * OVERLAP_MILLIS, 0).encode()
    await world.owner.say(space, "by the clock that was set back")
    async with world.owner.follow(last_id=mark) as stream:
        assert [(await stream.next()).type for _ in range(2)] == ["connected", "resync"]


async def test_an_id_of_another_space_is_answered_with_resync(world: World) -> None:
    here, there = await world.owner.create_space("Here"), await world.owner.create_space("There")
    async with world.owner.follow(here) as stream:
        await stream.next()
        mark = stream.last_id
    async with world.owner.follow(there, mark) as stream:
        assert [(await stream.next()).type for _ in range(2)] == ["connected", "resync"]


async def test_more_missed_than_can_be_replayed_is_one_resync_and_never_a_part(world: World, whole: bool) -> None:
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        mark = stream.last_id
    await world.gateway.db.write(_say_many, world.owner, space, REPLAY_LIMIT + 1)
    async with follow(world.owner, space, whole, mark) as stream:
        assert [(await stream.next()).type for _ in range(2)] == ["connected", "resync"]
        await world.owner.say(space, "live")
        assert (await stream.next()).data["message"]["text"] == "live"


async def test_missed_messages_are_replayed_completely_however_long_they_are(world: World, whole: bool) -> None:
    """A replay of more than a mebibyte used to count as a slow reader: the stream was cut on every reconnect."""
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        mark = stream.last_id
    await world.gateway.db.write(_say_many, world.owner, space, 40, "x" * 60_000)
    async with follow(world.owner, space, whole, mark) as stream:
        await world.owner.say(space, "live")
        await stream.until_message("live")
        assert [text[60_000:] for text in texts(stream.seen)] == [*(f"m{n}" for n in range(40)), ""]


async def test_as_much_as_can_be_replayed_is_replayed(world: World) -> None:
    """With `connected` it used to be one event more than a stream can buffer."""
    space = await world.owner.create_space()
    async with world.owner.follow(space) as stream:
        await stream.next()
        mark = stream.last_id
    await world.gateway.db.write(_say_many, world.owner, space, REPLAY_LIMIT)
    async with world.owner.follow(space, mark) as stream:
        await stream.until_message(f"m{REPLAY_LIMIT - 1}")
        assert len(texts(stream.seen)) == REPLAY_LIMIT


async def test_longer_messages_missed_than_can_be_replayed_is_one_resync(world: World, whole: bool) -> None:
    """A thousand long messages would be a hundred megabytes for each client that reconnects."""
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        mark = stream.last_id
    await world.gateway.db.write(_say_many, world.owner, space, REPLAY_CHARACTERS // 60_000 + 1, "x" * 60_000)
    async with follow(world.owner, space, whole, mark) as stream:
        assert [(await stream.next()).type for _ in range(2)] == ["connected", "resync"]
        await world.owner.say(space, "live")
        assert (await stream.next()).data["message"]["text"] == "live"


def _say_many(tx: Tx, person: Person, space: str, count: int, beginning: str = "") -> None:
    sender = Caller(person.id, person.name, "human", "owner", "")
    for n in range(count):
        post_message(tx, sender, space, Draft(f"{beginning}m{n}"))


async def test_events_trimmed_from_the_log_are_one_resync(world: World, whole: bool) -> None:
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        mark = stream.last_id
    for n in range(3):
        await world.owner.say(space, f"m{n}")
    first = sa.and_(events.c.topic == space, events.c.seq == 2)
    await world.gateway.db.write(lambda tx: tx.execute(events.delete().where(first)))
    async with follow(world.owner, space, whole, mark) as stream:
        assert [(await stream.next()).type for _ in range(2)] == ["connected", "resync"]


@pytest.mark.usefixtures("hints_only")
async def test_a7_a_removed_member_hears_nothing_more(world: World, whole: bool) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    other = await sara.create_space("Hers")
    async with follow(sara, space, whole) as stream:
        await stream.next()
        await world.owner.say(space, "hello")
        await stream.until_message("hello")
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
        left = await stream.until("space.member.left")
        assert left.data["entityId"] == sara.id
        await world.owner.say(space, "behind her back")
        if whole:
            await sara.say(other, "mine")
            await stream.until_message("mine")
        else:
            await stream.until_end()
        assert "behind her back" not in texts(stream.seen)
        mark = stream.last_id
    if whole:
        async with follow(sara, space, whole, mark) as stream:
            await stream.next()
            await sara.say(other, "again")
            await stream.until_message("again")
            assert texts(stream.seen) == ["again"]
    else:
        assert (await sara.get(f"/api/spaces/{space}/events")).status_code == 404


async def test_a_stream_over_all_spaces_follows_into_new_ones(world: World) -> None:
    sara = await world.person("Sara")
    async with sara.follow() as stream:
        await stream.next()
        space = await world.owner.create_space("New", sara)
        await world.owner.say(space, "welcome")
        joined = await stream.until("space.member.joined", entityId=sara.id)
        assert joined.data["spaceId"] == space
        await stream.until_message("welcome")
        assert [event.type for event in stream.seen].count("space.member.joined") == 1


async def test_events_before_a_member_joined_are_not_replayed(world: World) -> None:
    sara = await world.person("Sara")
    async with sara.follow() as stream:
        await stream.next()
        mark = stream.last_id
    space = await world.owner.create_space("Old")
    await world.owner.say(space, "before Sara")
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    await world.owner.say(space, "after Sara")
    async with sara.follow(last_id=mark) as stream:
        await stream.until_message("after Sara")
        assert texts(stream.seen) == ["after Sara"]
        assert "space.member.joined" in [event.type for event in stream.seen]


async def test_coming_back_is_followed_even_if_that_notice_overtakes_the_leaving(world: World) -> None:
    """Two topics may arrive in either order; here the entity's own events come first."""
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    db, hub = world.gateway.db, world.gateway.hub
    async with sara.follow() as stream:
        await stream.next()
        late: list[object] = []
        db.after_commit = late.extend
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
        await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
        db.after_commit = hub.publish
        own = [event for event in late if isinstance(event, LoggedEvent) and event.topic == sara.id]
        hub.publish(own)
        await stream.until("space.member.joined", entityId=sara.id)
        await asyncio.wait_for(world.owner.get("/api/health"), 10)  # lets pending tasks run
        hub.publish([event for event in late if event not in own])
        await world.owner.say(space, "welcome back")
        await stream.until_message("welcome back")


async def test_c4_a_read_position_reaches_the_persons_other_tabs_and_no_other_member(world: World, whole: bool) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    message = await world.owner.say(space, "read me")
    async with follow(sara, space, whole) as tab, follow(world.owner, space, whole) as other:
        await tab.next()
        await other.next()
        await sara.ok("POST", f"/api/spaces/{space}/read", {"lastMessageId": message["id"]})
        moved = await tab.until("space.read")
        assert moved.data["entityId"] == sara.id
        assert moved.data["lastSeenMessageId"] == message["id"]
        assert moved.data["unreadCount"] == 0
        await sara.say(space, "done")
        await other.until_message("done")
        assert "space.read" not in [event.type for event in other.seen]


@pytest.mark.usefixtures("hints_only")
async def test_the_end_of_a_token_ends_its_streams(world: World, whole: bool) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    listed = await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens")
    async with follow(sara, space, whole) as stream:
        await stream.next()
        await world.owner.ok("DELETE", f"/api/tokens/{listed[0]['id']}")
        await stream.until_end()
    assert (await sara.get("/api/me")).status_code == 401


async def test_ephemeral_events_reach_connected_clients_and_are_not_replayed(world: World, whole: bool) -> None:
    space = await world.owner.create_space()
    async with follow(world.owner, space, whole) as stream:
        await stream.next()
        world.gateway.hub.publish_ephemeral(space, "tool-input-delta", {"streamId": "str_1", "textDelta": "Hel"})
        delta = await stream.until("tool-input-delta")
        assert delta.data["textDelta"] == "Hel"
        mark = stream.last_id
    async with follow(world.owner, space, whole, mark) as stream:
        await stream.next()
        await world.owner.say(space, "next")
        await stream.until_message("next")
        assert [event.type for event in stream.seen] == ["connected", "space.message"]


async def test_a_slow_reader_is_cut_off_without_affecting_others(world: World) -> None:
    space = await world.owner.create_space()
    host, port = world.base_url.removeprefix("http://").split(":")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect((host, int(port)))
    request = f"GET /api/spaces/{space}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.owner.token}\r\n\r\n"
    slow.sendall(request.encode())
    hub = world.gateway.hub
    async with world.owner.follow(space) as quick:
        await quick.next()
        await until(lambda: hub.open_streams == 2)
        for n in range(80):
            await world.owner.say(space, f"{n} " + "x" * 60_000)
        await quick.until("space.message", spaceId=space)
        await until(lambda: hub.open_streams == 1)
        await world.owner.say(space, "all well")
        await quick.until_message("all well")
        assert len(texts(quick.seen)) == 81
    slow.close()


async def test_a_client_that_goes_away_is_forgotten(world: World) -> None:
    space = await world.owner.create_space()
    hub = world.gateway.hub
    async with world.owner.follow(space) as stream:
        await stream.next()
        assert hub.open_streams == 1
    await until(lambda: hub.open_streams == 0)
    assert hub._channels.by_topic == {}
    assert hub._channels._shards == {}


async def test_streams_need_a_token_and_a_membership(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space()
    async with httpx.AsyncClient(base_url=world.base_url) as nobody:
        assert (await nobody.get("/api/events")).status_code == 401
        assert (await nobody.get(f"/api/spaces/{space}/events")).status_code == 401
    assert (await sara.get(f"/api/spaces/{space}/events")).status_code == 404
    assert (await sara.get("/api/spaces/spc_0000000000000000/events")).status_code == 404


async def test_a_server_that_stops_ends_its_streams_and_the_next_one_goes_on(settings: Settings) -> None:
    async with serve_world(settings) as world:
        space = await world.owner.create_space()
        stream = world.owner.follow(space)
        await stream.__aenter__()
        await stream.next()
        mark = stream.last_id
        world.gateway.hub.end_streams()
        await stream.until_end()
        await stream.__aexit__(None, None, None)
        await world.owner.say(space, "meanwhile")
    async with serve_world(settings) as world, world.owner.follow(space, mark) as stream:
        await stream.until_message("meanwhile")
