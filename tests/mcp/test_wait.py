"""D1: `wait_for_messages` loses nothing, shows nothing twice, and ends with what it depends on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from mcp.types import CallToolResult

from majlis.settings import Settings
from tests.conditions import until
from tests.mcp.conftest import Connect, Session, refusal_of
from tests.world import Person, World, serve_world


@pytest.fixture(params=["one space", "all spaces"])
def whole(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "all spaces")


@asynccontextmanager
async def waiting(session: Session, **arguments: Any) -> AsyncIterator[asyncio.Task[CallToolResult]]:
    """A call that has begun to wait: it has reported progress."""
    begun = asyncio.Event()
    reported: list[float] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        assert total == arguments["waitSeconds"]
        assert not reported or progress > reported[-1]
        reported.append(progress)
        begun.set()

    call = session.client.call_tool("wait_for_messages", arguments, progress_callback=progressed)
    task = asyncio.create_task(call)
    try:
        async with asyncio.timeout(60):
            await begun.wait()
        yield task
    finally:
        task.cancel()


def where(space: str, whole: bool) -> dict[str, Any]:
    return {} if whole else {"spaceId": space}


def texts(found: Any) -> list[str]:
    return [each["text"] for each in found["messages"]]


async def pair(world: World) -> tuple[Person, Person, str]:
    sara, ben = await world.person("Sara"), await world.person("Ben")
    return sara, ben, await sara.create_space("Kitchen", ben)


async def test_d1_a_wait_ends_with_the_first_message_of_another_member(
    world: World, connect: Connect, whole: bool
) -> None:
    sara, ben, space = await pair(world)
    await sara.say(space, "Before")
    async with connect(ben) as session, waiting(session, waitSeconds=60, **where(space, whole)) as task:
        # One's own messages, reactions and changes of earlier messages do not end it.
        own = await ben.say(space, "Anyone?")
        await ben.ok("PATCH", f"/api/messages/{own['id']}", {"text": "Anyone there?"})
        await sara.ok("PUT", f"/api/messages/{own['id']}/reactions/👀")
        await sara.say(space, "Yes")
        result = await task
        assert texts(result.structured_content) == ["Yes"]
        assert result.structured_content["missed"] is False
    await until(lambda: not world.gateway.hub.open_streams)


async def test_d1_with_its_cursor_nothing_is_lost_and_nothing_is_shown_twice(
    world: World, connect: Connect, whole: bool
) -> None:
    sara, ben, space = await pair(world)
    said = [f"Message {n}" for n in range(12)]
    seen: list[str] = []
    async with connect(ben) as session:
        found = await session.ok("wait_for_messages", waitSeconds=0, **where(space, whole))
        assert found["messages"] == []
        talking = asyncio.create_task(_say_all(sara, space, said))
        while len(seen) < len(said):
            given = {"cursor": found["cursor"], "limit": 5, "waitSeconds": 30}
            found = await session.ok("wait_for_messages", **given, **where(space, whole))
            seen += texts(found)
            await session.ok("send_message", spaceId=space, text="Noted")
        await talking
        found = await session.ok("wait_for_messages", cursor=found["cursor"], waitSeconds=0, **where(space, whole))
        assert found["messages"] == []
    assert seen == said


async def _say_all(person: Person, space: str, said: list[str]) -> None:
    for text in said:
        await person.say(space, text)


async def test_d1_the_id_of_a_message_is_a_cursor_in_its_space(world: World, connect: Connect) -> None:
    """The answer may come before the call that waits for it."""
    sara, ben, space = await pair(world)
    other = await sara.create_space("Cellar", ben)
    async with connect(ben) as session:
        question = (await session.ok("send_message", spaceId=space, text="Ready?"))["message"]
        await sara.say(space, "Yes")
        found = await session.ok("wait_for_messages", spaceId=space, cursor=question["id"])
        assert texts(found) == ["Yes"]
        for wrong in (question["id"], found["cursor"], "msg_0000000000000000"):
            code, _ = await session.refusal("wait_for_messages", spaceId=other, cursor=wrong)
            assert code in ("bad_cursor", "unknown_message")


async def test_d1_a_revoked_token_ends_the_wait(world: World, connect: Connect, whole: bool) -> None:
    sara, ben, space = await pair(world)
    made = await world.owner.ok("POST", f"/api/entities/{ben.id}/tokens", {})
    guest = await world.anybody(made["token"])
    async with connect(guest) as session, waiting(session, waitSeconds=300, **where(space, whole)) as task:
        await world.owner.ok("DELETE", f"/api/tokens/{made['id']}")
        assert refusal_of(await task)[0] == "invalid_token"
        await sara.say(space, "A secret")


async def test_d1_a_removed_member_waits_for_nothing(world: World, connect: Connect) -> None:
    sara, ben, space = await pair(world)
    async with connect(ben) as session, waiting(session, spaceId=space, waitSeconds=300) as task:
        await sara.ok("DELETE", f"/api/spaces/{space}/members/{ben.id}")
        assert refusal_of(await task)[0] == "unknown_space"


async def test_d1_a_wait_over_all_spaces_shows_only_those_of_the_caller(world: World, connect: Connect) -> None:
    sara, ben, space = await pair(world)
    async with connect(ben) as session, waiting(session, waitSeconds=60) as task:
        await sara.ok("DELETE", f"/api/spaces/{space}/members/{ben.id}")
        await sara.say(space, "A secret")
        later = await sara.create_space("Cellar", ben)
        await sara.say(later, "Hello Ben")
        assert texts((await task).structured_content) == ["Hello Ben"]


async def test_d1_a_canceled_call_ends_at_once(world: World, connect: Connect, whole: bool) -> None:
    _, ben, space = await pair(world)
    async with connect(ben) as session:
        async with waiting(session, waitSeconds=300, **where(space, whole)) as task:
            assert world.gateway.hub.open_streams == 1
            task.cancel()
            await until(lambda: not world.gateway.hub.open_streams)
        assert len((await session.ok("list_spaces"))["spaces"]) == 1


async def test_d1_a_client_with_the_same_token_and_number_cancels_only_its_own_call(
    world: World, connect: Connect
) -> None:
    sara, ben, space = await pair(world)
    async with connect(ben) as one, connect(ben) as two, waiting(two, spaceId=space, waitSeconds=60) as stays:
        async with waiting(one, spaceId=space, waitSeconds=300) as task:
            task.cancel()
            await until(lambda: world.gateway.hub.open_streams == 1)
        await sara.say(space, "Hello")
        assert texts((await stays).structured_content) == ["Hello"]


async def test_d1_a_stop_of_the_server_ends_the_wait(settings: Settings, connect: Connect, whole: bool) -> None:
    async with serve_world(settings) as world:
        _, ben, space = await pair(world)
        async with connect(ben) as session, waiting(session, waitSeconds=300, **where(space, whole)) as task:
            world.gateway.hub.end_streams()
            found = (await task).structured_content
            assert (found["messages"], bool(found["cursor"])) == ([], True)


async def test_d1_a_wait_at_one_node_hears_of_a_message_at_another(
    settings: Settings, world: World, connect: Connect, whole: bool
) -> None:
    sara, ben, space = await pair(world)
    async with (
        serve_world(settings.model_copy(update={"workers": 0})) as other,
        connect(ben) as here,
        connect(ben, other.base_url) as there,
    ):
        async with waiting(there, waitSeconds=60, **where(space, whole)) as task:
            await sara.say(space, "Hello")
            found = (await task).structured_content
            assert texts(found) == ["Hello"]
        # The cursor holds at every node.
        await sara.say(space, "Again")
        found = await here.ok("wait_for_messages", cursor=found["cursor"], **where(space, whole))
        assert texts(found) == ["Again"]


# Only PostgreSQL has a bus.
@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_d1_a_cancellation_that_reaches_another_node_is_passed_on(settings: Settings, nats_url: str) -> None:
    """A load balancer may send the notification of an earlier protocol anywhere."""
    both = settings.model_copy(update={"bus_url": nats_url, "workers": 0})
    async with serve_world(both) as world, serve_world(both) as other:
        _, ben, space = await pair(world)
        arguments = {"spaceId": space, "waitSeconds": 300}
        request = {"id": 7, "method": "tools/call", "params": {"name": "wait_for_messages", "arguments": arguments}}
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        # The other node follows the bus once it has served a request.
        assert (await _post(ben, other, "ours", {"id": 1, "method": "ping"})).status_code == 200
        call = asyncio.create_task(_post(ben, world, "ours", request))
        await until(lambda: world.gateway.hub.open_streams)
        assert (await _post(ben, other, "another client", cancel)).status_code == 202
        assert (await _post(ben, other, "ours", cancel)).status_code == 202
        assert "The request was canceled" in (await call).text
        assert not world.gateway.hub.open_streams


async def _post(person: Person, node: World, session: str, message: dict[str, Any]) -> httpx.Response:
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-session-id": session,
        "mcp-protocol-version": "2025-11-25",
    }
    return await person.http.post(f"{node.base_url}/mcp", json={"jsonrpc": "2.0", **message}, headers=headers)
