"""While a stream opens: no event comes before `connected`, and none is lost after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from majlis.entities.caller import Caller
from tests.conditions import until
from tests.world import Person, World


async def test_deltas_during_the_opening_of_a_stream_come_after_connected(world: World) -> None:
    """Deltas used to reach a stream before its first event, and clients could not assign them."""
    hub = world.gateway.hub
    space = await world.owner.create_space()
    caller = Caller(world.owner.id, "Owner", "human", "owner", "tok_x")

    async def hello() -> str:
        return '{"type":"connected"}'

    opening = asyncio.create_task(hub.open_space(caller, space, None, hello))
    await until(lambda: space in hub._channels.by_topic)
    hub.publish_ephemeral(space, "tool-input-delta", {"streamId": "s", "textDelta": "Hel", "offset": 0})
    stream = await opening
    assert stream is not None
    hub.publish_ephemeral(space, "tool-input-delta", {"streamId": "s", "textDelta": "lo", "offset": 3})
    stream.close()
    sent = b"".join([chunk async for chunk in stream.chunks()]).decode()
    told = [line.removeprefix("event: ") for line in sent.splitlines() if line.startswith("event: ")]
    assert told == ["connected", "tool-input-delta", "tool-input-delta"]
    hub.leave(stream)


async def test_events_during_the_read_of_connected_come_after_it(world: World, whole: bool) -> None:
    """`connected` used to be read before the stream followed, so an agent that started in between was never shown as
    active."""
    space = await world.owner.create_space()

    async def hello() -> str:
        await world.owner.say(space, "meanwhile")
        return '{"type":"connected"}'

    assert await opened(world, None if whole else space, hello) == ["connected", "space.message"]


async def test_a7_a_member_that_leaves_while_a_stream_opens_gets_nothing_of_the_space(world: World) -> None:
    """The position used to be lost, so the whole history of the space counted as missed."""
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    async with world.owner.follow(space) as other:
        await other.next()
        await world.owner.say(space, "before")

        async def hello() -> str:
            await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
            await world.owner.say(space, "secret")
            await other.until_message("secret")
            return '{"type":"connected"}'

        assert await opened(world, None, hello, sara) == ["connected", "space.member.left"]


async def test_a_member_that_joins_while_a_stream_opens_is_announced_after_connected(world: World) -> None:
    """A second tab used to announce the new member at once to a stream that had not begun."""
    sara = await world.person("Sara")
    async with sara.follow() as other:
        await other.next()

        async def hello() -> str:
            space = await world.owner.create_space("Lobby", sara)
            await world.owner.say(space, "hello")
            await other.until_message("hello")
            return '{"type":"connected"}'

        assert await opened(world, None, hello, sara) == ["connected", "space.member.joined", "space.message"]


async def opened(
    world: World, space: str | None, hello: Callable[[], Awaitable[str]], person: Person | None = None
) -> list[str]:
    """The events of a stream whose `connected` is read by `hello`."""
    hub, who = world.gateway.hub, person or world.owner
    caller = Caller(who.id, who.name, "human", "member", "tok_x")
    stream = await (
        hub.open_gateway(caller, None, hello) if space is None else hub.open_space(caller, space, None, hello)
    )
    assert stream is not None
    stream.close()
    sent = b"".join([chunk async for chunk in stream.chunks()]).decode()
    hub.leave(stream)
    return [line.removeprefix("event: ") for line in sent.splitlines() if line.startswith("event: ")]
