"""Following live events: no event is lost or repeated, across cut connections and restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from majlis.client import Event, MajlisClient, SyncMajlisClient
from majlis.client.follow import Following
from majlis.errors import Forbidden, MajlisError, NotFound, TooMany, Unauthenticated, Unavailable
from tests.client.proxy import Proxy
from tests.conditions import PATIENCE_SECONDS
from tests.world import Person, World


async def next_of(events: AsyncIterator[Event], type: str) -> Event:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for event in events:
            if event.type == type:
                return event
    raise AssertionError("the stream ended")


async def texts(events: AsyncIterator[Event], count: int) -> list[str]:
    return [(await next_of(events, "space.message")).data["message"]["text"] for _ in range(count)]


async def end_of(events: AsyncIterator[Event]) -> MajlisError:
    with pytest.raises(MajlisError) as ended:
        await next_of(events, "what never comes")
    return ended.value


async def test_a_space_is_followed_and_strange_characters_arrive_whole(client: MajlisClient, world: World) -> None:
    space = await world.owner.create_space()
    async with aclosing(client.follow(space)) as events:
        assert (await next_of(events, "connected")).data["activeAgents"] == []
        for text in ("hello", "one\u2028two", "three\r\nfour\u0020five", "🧑‍🎨"):
            said = await world.owner.say(space, text)
            assert (await next_of(events, "space.message")).data["message"] == said


async def test_all_spaces_are_followed_also_those_joined_meanwhile(world: World) -> None:
    sara = await world.person("Sara")
    first = await world.owner.create_space("First", sara)
    async with MajlisClient(world.base_url, sara.token) as hers, aclosing(hers.follow()) as events:
        await next_of(events, "connected")
        await world.owner.say(first, "one")
        assert await texts(events, 1) == ["one"]
        second = await world.owner.create_space("Second", sara)
        assert (await next_of(events, "space.member.joined")).data["spaceId"] == second
        await world.owner.say(second, "two")
        assert await texts(events, 1) == ["two"]


async def test_after_a_cut_it_comes_back_by_itself_with_all_that_was_said(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    async with MajlisClient(proxy.url, world.owner.token) as client, aclosing(client.follow(space)) as events:
        await next_of(events, "connected")
        await world.owner.say(space, "before")
        assert await texts(events, 1) == ["before"]
        await proxy.close()
        for text in ("one", "two", "three"):
            await world.owner.say(space, text)
        told = await next_of(events, "disconnected")
        assert told.data["retryInSeconds"] > 0
        await proxy.open()
        await next_of(events, "connected")
        await world.owner.say(space, "after")
        assert await texts(events, 4) == ["one", "two", "three", "after"]


async def test_an_event_cut_in_two_is_not_seen_as_half(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    async with MajlisClient(proxy.url, world.owner.token) as client, aclosing(client.follow(space)) as events:
        await next_of(events, "connected")
        proxy.answers_to_lose = 1
        await world.owner.say(space, "x" * 50_000)
        assert [len(text) for text in await texts(events, 1)] == [50_000]


async def test_a_stream_goes_on_after_the_last_event_that_is_given(client: MajlisClient, world: World) -> None:
    space = await world.owner.create_space()
    async with aclosing(client.follow(space)) as events:
        last = (await next_of(events, "connected")).id
    await world.owner.say(space, "missed")
    async with aclosing(client.follow(space, last)) as events:
        assert await texts(events, 1) == ["missed"]


async def test_resync_is_handed_to_the_caller(client: MajlisClient, world: World) -> None:
    space = await world.owner.create_space()
    async with aclosing(client.follow(space, "what is this")) as events:
        await next_of(events, "connected")
        assert (await next_of(events, "resync")).data == {"type": "resync"}
        await world.owner.say(space, "hello")
        assert await texts(events, 1) == ["hello"]


async def test_it_ends_when_the_member_is_removed(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    async with MajlisClient(world.base_url, sara.token) as hers, aclosing(hers.follow(space)) as events:
        await next_of(events, "connected")
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
        ended = await end_of(events)
    assert (type(ended), ended.code) == (NotFound, "unknown_space")


async def test_it_ends_when_the_token_is_revoked(world: World) -> None:
    sara = await world.person("Sara")
    async with MajlisClient(world.base_url, sara.token) as hers, aclosing(hers.follow()) as events:
        await next_of(events, "connected")
        [token] = await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens")
        await world.owner.ok("DELETE", f"/api/tokens/{token['id']}")
        assert type(await end_of(events)) is Unauthenticated


async def test_it_does_not_begin_with_a_wrong_token_or_in_a_foreign_space(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space()
    async with MajlisClient(world.base_url, sara.token) as hers, aclosing(hers.follow(space)) as events:
        assert type(await end_of(events)) is NotFound
    async with MajlisClient(world.base_url, "wrong") as wrong, aclosing(wrong.follow()) as events:
        assert type(await end_of(events)) is Unauthenticated


async def test_blocking_code_can_follow_too(world: World, proxy: Proxy) -> None:
    space = await world.owner.create_space()
    loop = asyncio.get_running_loop()

    def listen() -> list[str]:
        heard: list[str] = []
        with SyncMajlisClient(proxy.url, world.owner.token) as client:
            for event in client.follow(space):
                if event.type == "connected":
                    text = f"heard {len(heard)}"
                    asyncio.run_coroutine_threadsafe(_say_and_cut(world.owner, space, text, proxy), loop)
                elif event.type == "space.message":
                    heard.append(event.data["message"]["text"])
                    if len(heard) == 3:
                        break
        return heard

    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await asyncio.to_thread(listen) == ["heard 0", "heard 1", "heard 2"]


async def _say_and_cut(person: Person, space: str, text: str, proxy: Proxy) -> None:
    async with person.follow(space) as events:
        await events.next()
        await person.say(space, text)
        await events.until_message(text)
    proxy.cut()


@pytest.mark.parametrize(
    ("error", "final"),
    [
        (Unauthenticated("invalid_token", ""), True),
        (Forbidden("viewer", ""), True),
        (NotFound("unknown_space", ""), True),
        (Unavailable("unreachable", ""), False),
        (MajlisError("internal", ""), False),
        (TooMany("rate_limited", "", 9), False),
    ],
)
def test_only_what_another_try_cannot_change_ends_a_stream(error: MajlisError, final: bool) -> None:
    following = Following()
    if final:
        with pytest.raises(type(error)):
            following.broken(error)
    else:
        assert following.broken(error).type == "disconnected"
        assert following.delay >= (9 if isinstance(error, TooMany) else 0)


def test_a_response_that_is_not_an_event_stream_is_an_error() -> None:
    page = httpx.Response(200, text="<html>", request=httpx.Request("GET", "http://majlis.test/api/events"))
    with pytest.raises(MajlisError, match="not as a Majlis server"):
        Following().begin(page)
