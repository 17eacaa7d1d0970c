"""R5 in a cluster: one run at a time for each roles agent and space, whichever worker claims it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncpg
import pytest

from majlis.inbox.deliver import post_message
from majlis.runs.claim.claim import claim
from majlis.spaces.post import Draft
from majlis.store.open import open_database
from majlis.store.tables import agents
from majlis.store.transactions import Database, Tx
from tests.minds.places import add_agent, space_of
from tests.minds.test_load import counted, plan_of
from tests.spaces.actors import add_caller


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[list[Database]]:
    async with AsyncExitStack() as stack:
        opened = [open_database(database_url) for _ in range(3)]
        for each in opened:
            stack.push_async_callback(each.close)
        yield opened


def _talk(tx: Tx) -> None:
    """Ten messages in each of two spaces with a roles agent."""
    husam, coder = add_caller(tx, "Husam"), add_agent(tx, "Coder")
    config = {"mind": "roles", "limits": {"concurrentRuns": 5}}
    tx.execute(agents.update().where(agents.c.id == coder.id).values(config=config))
    for space in [space_of(tx, name, husam, coder) for name in ("One", "Two")]:
        for n in range(10):
            post_message(tx, husam, space, Draft(f"m{n}"))


async def test_r5_three_workers_that_claim_at_once_get_the_first_message_of_each_space_and_no_other(
    nodes: list[Database],
) -> None:
    await nodes[0].write(_talk)
    # More slots than messages, and fewer: a look continues behind deliveries that have to wait.
    found = await asyncio.gather(*(node.write(claim, f"w{n}", 30 if n else 4, (), ()) for n, node in enumerate(nodes)))
    taken = [run.trigger for each in found for run in each.runs]
    assert sorted((trigger["spaceName"], trigger["text"]) for trigger in taken) == [("One", "m0"), ("Two", "m0")]
    again = await nodes[1].write(claim, "w1", 4, (), ())
    assert again.runs == []


@pytest.mark.parametrize("engine", ["postgresql"])
async def test_r5_a_message_waits_for_an_earlier_one_that_another_worker_has_locked_but_not_taken(
    nodes: list[Database], database_url: str
) -> None:
    """A claim skips what others have locked, and a worker that read later may lock the agent first."""
    await nodes[0].write(_talk)
    locked, go_on = asyncio.Event(), asyncio.Event()
    hold = asyncio.create_task(_hold_first(database_url, locked, go_on))
    await locked.wait()
    found = await nodes[1].write(claim, "w1", 30, (), ())
    go_on.set()
    await hold
    assert [(run.trigger["spaceName"], run.trigger["text"]) for run in found.runs] == [("Two", "m0")]
    later = await nodes[1].write(claim, "w1", 30, (), ())
    assert [(run.trigger["spaceName"], run.trigger["text"]) for run in later.runs] == [("One", "m0")]


async def _hold_first(url: str, locked: asyncio.Event, go_on: asyncio.Event) -> None:
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        await connection.execute("SELECT FROM deliveries ORDER BY id LIMIT 1 FOR UPDATE")
        locked.set()
        await go_on.wait()
    await connection.close()


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_a_long_queue_is_not_read_to_find_what_failed(nodes: list[Database]) -> None:
    await nodes[0].write(_talk)
    with counted(nodes[0]) as statements:
        await nodes[0].write(claim, "w0", 4, (), ())
    [tried] = {each for each in statements if "not_before > ?" in each and "space_id IS NOT NULL" in each}
    assert any("ix_deliveries_pending" in step for step in await nodes[0].read(plan_of, tried))
