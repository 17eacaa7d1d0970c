"""D2 over `/mcp`: a program takes the events of an outside agent, answers and settles them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.conditions import until
from tests.mcp.conftest import Connect
from tests.outside.program import outside
from tests.runs.house import House, open_house


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


async def test_d2_an_outside_agent_works_over_mcp(house: House, connect: Connect) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    async with connect(scout.agent) as session:
        task = asyncio.create_task(session.ok("take_events", waitSeconds=30))
        await until(lambda: house.world.gateway.polls._woken)
        asked = await house.owner.say(space, "Where is the soup?")
        [event] = (await task)["events"]
        assert event["trigger"]["messageId"] == asked["id"]
        held = {"id": event["id"], "lease": event["lease"]}
        await session.ok("renew_event", **held)
        sent = await session.ok(
            "send_message", spaceId=space, text="Which soup?", inbox=held, wait={"within": "1 hour"}, clientId="a1"
        )
        assert sent["message"]["runId"] == event["runId"]
        await house.owner.say(space, "The red one")
        [answer] = (await session.ok("take_events", waitSeconds=30))["events"]
        assert answer["runId"] == event["runId"]
        held = {"id": answer["id"], "lease": answer["lease"]}
        assert (await session.ok("settle_event", **held, state="done"))["state"] == "done"
        assert (await session.ok("take_events"))["events"] == []
    assert await house.deliveries(asked) == [("Scout", "done")]


async def test_d2_a_message_with_an_ended_lease_is_refused(house: House, connect: Connect) -> None:
    scout = await outside(house)
    space = await house.space("Project Alpha", scout.agent)
    await house.owner.say(space, "Hello")
    async with connect(scout.agent) as session:
        [event] = (await session.ok("take_events", waitSeconds=30))["events"]
        held = {"id": event["id"], "lease": event["lease"]}
        await session.ok("settle_event", **held, state="passed")
        assert (await session.refusal("send_message", spaceId=space, text="Late", inbox=held))[0] == "lease_ended"
        assert (await session.refusal("send_message", spaceId=space, text="x", wait=True))[0] == "wait_without_inbox"
    assert [text for _, text in await house.texts(space)] == ["Hello"]
