"""Two `majlis serve` processes on one database: a message is stored once, and each process sees the other's events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from majlis import clock
from tests.acceptance.plain_http import post_repeatedly
from tests.acceptance.processes import ServerProcess
from tests.cli.processes import Commands
from tests.world import Person


@pytest.fixture
async def pair(
    commands: Commands, database_url: str, bus_url: str, tmp_path: Path
) -> AsyncIterator[tuple[Person, Person]]:
    async with start_pair(commands, database_url, bus_url, tmp_path) as owners:
        yield owners


@asynccontextmanager
async def start_pair(
    commands: Commands, database_url: str, bus_url: str, tmp_path: Path, **second: str
) -> AsyncIterator[tuple[Person, Person]]:
    """The owner through each process. Without a Lobby, whose agents would post messages at any time. `second` is the
    environment of the second process."""
    servers = [
        ServerProcess(commands, database_url, tmp_path, bus_url, MAJLIS_DEMO="false", **environment)
        for environment in ({}, second)
    ]
    await asyncio.gather(*(server.start() for server in servers))
    owners = [await server.owner() for server in servers]
    yield owners[0], owners[1]
    for owner in owners:
        await owner.http.aclose()
    assert await asyncio.gather(*(server.stop() for server in servers)) == [0, 0]


async def test_m16_a_thousand_identical_posts_at_once_make_one_message(pair: tuple[Person, Person]) -> None:
    space = await pair[0].create_space()
    body = {"text": "exactly once", "clientId": "the-same"}
    path = f"/api/spaces/{space}/messages"
    answers = await asyncio.gather(*(post_repeatedly(pair[n % 2], path, body, 5) for n in range(200)))
    statuses = [status for each in answers for status, _ in each]
    assert sorted(statuses) == [200] * 999 + [201]
    assert len({message["id"] for each in answers for _, message in each}) == 1
    history = await pair[1].history(space)
    assert [message["seq"] for message in history["messages"]] == [1]
    assert history["total"] == 1


@pytest.mark.parametrize("whole", [False, True], ids=["one space", "all spaces"])
async def test_each_process_sees_the_others_events(pair: tuple[Person, Person], whole: bool) -> None:
    here, there = pair
    space = await here.create_space()
    async with here.follow(None if whole else space) as mine, there.follow(None if whole else space) as theirs:
        await mine.next()
        await theirs.next()
        await asyncio.gather(*((here, there)[n % 2].say(space, f"m{n}") for n in range(40)))
        for stream in (mine, theirs):
            seqs: list[int] = []
            while len(seqs) < 40:
                seqs.append((await stream.until("space.message")).data["message"]["seq"])
            assert seqs == list(range(1, 41))


async def test_a7_a_member_removed_through_one_process_is_cut_off_at_the_other(pair: tuple[Person, Person]) -> None:
    here, there = pair
    sara = await here.ok("POST", "/api/entities", {"type": "human", "name": "Sara"})
    token = await here.ok("POST", f"/api/entities/{sara['id']}/tokens", {})
    space = await here.create_space()
    await here.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara["id"]})
    person = Person(there.base_url, token["token"], sara["id"], "Sara")
    async with person.follow(space) as stream:
        await stream.next()
        await here.ok("DELETE", f"/api/spaces/{space}/members/{sara['id']}")
        await stream.until_end()
        await here.say(space, "without Sara")
    await person.http.aclose()


async def test_a_stream_goes_on_at_the_other_process_where_it_stopped(pair: tuple[Person, Person]) -> None:
    here, there = pair
    space = await here.create_space()
    async with here.follow() as stream:
        await stream.next()
        await here.say(space, "one")
        await stream.until_message("one")
        mark = stream.last_id
    await here.say(space, "two")
    async with there.follow(last_id=mark) as stream:
        await stream.until_message("two")
        assert [event.type for event in stream.seen] == ["connected", "space.message"]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
@pytest.mark.parametrize("ahead", ["-120", "120"])
async def test_a_process_with_a_wrong_clock_hides_no_events(
    commands: Commands, database_url: str, bus_url: str, tmp_path: Path, ahead: str
) -> None:
    wrong = {"TEST_CLOCK_AHEAD_SECONDS": ahead}
    async with start_pair(commands, database_url, bus_url, tmp_path, **wrong) as (here, there):
        space = await there.create_space()
        async with here.follow() as stream:
            await stream.next()
            mark = stream.last_id
        message = await there.say(space, "from a machine with a wrong clock")
        async with here.follow(last_id=mark) as stream:
            await stream.until_message("from a machine with a wrong clock")
        async with there.follow(last_id=mark) as stream:
            await stream.until_message("from a machine with a wrong clock")
        here_too = await here.say(space, "from a machine with the right clock")
        between = clock.parse_iso(here_too["createdAt"]) - clock.parse_iso(message["createdAt"])
        assert 0 <= between < 60_000
