"""`majlis tail`: the last messages, then live ones, across network failures."""

from __future__ import annotations

import json
import signal

import pytest

from tests.cli.command import Command, Running
from tests.client.proxy import Proxy
from tests.conditions import until
from tests.world import World

# This command does not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_the_last_lines_come_first_then_what_is_said_until_ctrl_c(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    for number in range(5):
        await world.owner.say(space, f"past {number}")
    async with majlis.running("tail", "Lobby", "--lines", "2") as tail:
        assert [(await tail.out())[19:] for _ in range(2)] == ["  Owner: past 3", "  Owner: past 4"]
        await world.owner.say(space, "live")
        assert (await tail.out()).endswith("  Owner: live")
        assert await tail.stop(signal.SIGINT) == 0


async def test_lines_may_be_more_than_a_page(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    for number in range(205):
        await world.owner.say(space, f"past {number}")
    async with majlis.running("tail", space, "--lines", "203") as tail:
        shown = [await tail.out() for _ in range(203)]
        assert (shown[0][-6:], shown[-1][-8:]) == ("past 2", "past 204")


async def test_lines_may_be_none(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    await world.owner.say(space, "past")
    async with majlis.running("tail", space, "--lines", "0") as tail:
        await until_following(world)
        await world.owner.say(space, "live")
        assert (await tail.out()).endswith("live")


async def test_a_message_cannot_control_the_terminal_or_look_like_another(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    await world.owner.say(space, "one\n2026-01-01 00:00:00  Sara: forged \u202e\ttab\r\nend")
    async with majlis.running("tail", "Lobby") as tail:
        assert (await tail.out()).endswith("Owner: one")
        assert await tail.out() == "    2026-01-01 00:00:00  Sara: forged \\u202e\ttab"
        assert await tail.out() == "    end"


async def test_json_is_a_message_a_line_and_nothing_else(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    said = [await world.owner.say(space, "one\ntwo"), await world.owner.say(space, "three")]
    async with majlis.running("tail", "Lobby", "--json") as tail:
        assert [json.loads(await tail.out()) for _ in range(2)] == said
        live = await world.owner.say(space, "four")
        assert json.loads(await tail.out()) == live


async def test_after_a_cut_it_says_so_and_shows_everything_once(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    async with Proxy(world.base_url) as proxy, majlis.running("tail", "Lobby", "--url", proxy.url) as tail:
        await until_following(world)
        await world.owner.say(space, "before")
        assert (await tail.out()).endswith("before")
        await proxy.close()
        assert (await tail.err()).endswith("Reconnecting…")
        await world.owner.say(space, "meanwhile")
        await proxy.open()
        assert await tail.err() == "Reconnected."
        await world.owner.say(space, "after")
        assert [(await tail.out()).split(": ")[1] for _ in range(2)] == ["meanwhile", "after"]
        assert await tail.stop(signal.SIGTERM) == 0


async def test_it_ends_with_one_line_when_the_member_is_removed(bare: Command, world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    command = bare.given(MAJLIS_URL=world.base_url, MAJLIS_TOKEN=sara.token)
    async with command.running("tail", "Lobby") as tail:
        await until_following(world)
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
        assert (await last_line(tail)).startswith(f"You don't have access to the space {space}.")
        assert await tail.end() == 1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_a_stopped_tail_leaves_no_token_behind(local: Command, world: World, how: signal.Signals) -> None:
    await world.owner.create_space("Lobby")
    command = local.given(MAJLIS_URL=world.base_url)
    async with command.running("tail", "Lobby") as tail:
        await until_following(world)
        assert len(await labels(world)) == 2
        assert await tail.stop(how) == 0
    assert await labels(world) == [None]


async def until_following(world: World) -> None:
    await until(lambda: world.gateway.hub.open_streams)


async def last_line(tail: Running) -> str:
    while "Reconnecting" in (line := await tail.err()):
        pass
    return line


async def labels(world: World) -> list[str | None]:
    found = await world.owner.ok("GET", f"/api/entities/{world.owner.id}/tokens")
    return [token["label"] for token in found]
