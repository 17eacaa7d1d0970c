"""The Lobby of a new gateway: two demo agents greet, wait, remember, remind, and talk to each other once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.model_server import ModelServer
from tests.runs.house import House
from tests.world import serve_world


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with ModelServer() as unused, serve_world(settings) as world:
        await world.gateway.create_lobby()
        yield House(world, unused)


async def test_the_demo_agents_welcome_wait_remember_remind_and_stop(house: House) -> None:
    await house.until_waiting()
    [lobby] = await house.owner.ok("GET", "/api/spaces")
    assert (lobby["name"], [member["name"] for member in lobby["members"]]) == ("Lobby", ["Owner", "Nadim", "Rawi"])
    [(host, welcome)] = await house.texts(lobby["id"])
    assert host == "Nadim"
    assert "Welcome to Lobby!" in welcome
    assert welcome.endswith("What is your name?")

    await house.owner.say(lobby["id"], "my name is Lena")
    await house.until_idle()
    greeted = (await house.texts(lobby["id"]))[2:]
    assert [name for name, _ in greeted] == ["Nadim", "Rawi"]
    assert greeted[0][1].startswith("Hello Lena, nice to meet you!")
    agents = {agent["name"]: agent["id"] for agent in await house.owner.ok("GET", "/api/agents")}
    [memory] = await house.owner.ok("GET", f"/api/agents/{agents['Nadim']}/memories")
    assert memory["value"] == "Owner is called Lena"

    await house.owner.say(lobby["id"], "remind me in 1 minute")
    await house.until_idle()
    assert (await house.texts(lobby["id"]))[-1] == ("Nadim", "I will remind you in 1 minute, Owner: it is time.")
    house.advance(61)
    async with house.owner.follow(lobby["id"]) as live:
        said = (await house.texts(lobby["id"]))[-1][1]
        if "you asked me" not in said:
            await live.until_message("Owner, you asked me to remind you: it is time.")
    await house.until_idle()
    before = len(await house.texts(lobby["id"]))

    await house.owner.say(lobby["id"], "talk to each other")
    await house.until_idle()
    talk = (await house.texts(lobby["id"]))[before:]
    assert [name for name, _ in talk] == ["Owner", "Nadim", "Rawi"]
    assert {run["status"] for run in await house.runs()} == {"completed"}


async def test_a_lobby_is_made_once_and_only_in_an_empty_gateway(house: House, settings: Settings) -> None:
    await house.world.gateway.create_lobby()
    assert len(await house.owner.ok("GET", "/api/spaces")) == 1


async def test_a_gateway_can_begin_empty(settings: Settings) -> None:
    async with serve_world(settings.model_copy(update={"demo": False})) as world:
        await world.gateway.create_lobby()
        assert await world.owner.ok("GET", "/api/spaces") == []
        assert await world.owner.ok("GET", "/api/agents") == []
