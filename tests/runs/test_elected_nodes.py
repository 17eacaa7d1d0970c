"""E12 in a cluster: agents that stand by get a message once, whichever worker looks and whenever one dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import NamedTuple

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.runs.claim.claim import claim
from majlis.runs.end.settle import settle_deliveries
from majlis.spaces.post import Draft
from majlis.store.open import open_database
from majlis.store.tables import deliveries, runs, spaces
from majlis.store.transactions import Database, Tx
from tests.minds.places import add_agent, space_of
from tests.spaces.actors import add_caller

pytestmark = pytest.mark.usefixtures("standing_clock")


class Scene(NamedTuple):
    husam: Caller
    space: str
    message: str
    elected: str


class Killed(Exception):
    pass


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[list[Database]]:
    async with AsyncExitStack() as stack:
        opened = [open_database(database_url) for _ in range(2)]
        for each in opened:
            stack.push_async_callback(each.close)
        yield opened


def _talk(tx: Tx) -> Scene:
    """Husam mentions Guard, whose delivery is done, and then writes without a mention."""
    husam, guard = add_caller(tx, "Husam"), add_agent(tx, "Guard")
    space = space_of(tx, "Alpha", husam, guard, add_agent(tx, "Architect"), add_agent(tx, "Ops"))
    tx.execute(spaces.update().values(triggers="elected"))
    post_message(tx, husam, space, Draft("hello", mentions=[guard.id]))
    tx.execute(deliveries.update().values(state="done"))
    return Scene(husam, space, post_message(tx, husam, space, Draft("and now?"))["id"], guard.id)


def _settle(tx: Tx, run_id: str, outcome: str, killed: bool = False) -> None:
    tx.execute(runs.update().where(runs.c.id == run_id).values(status="completed", ended_at=tx.now, lease_owner=None))
    settle_deliveries(tx, run_id, outcome)
    if killed:
        raise Killed


def _settle_alone(tx: Tx, message: str, elected: str, outcome: str) -> None:
    """Without a word to the others, as if their rows had been locked by a claim."""
    this = deliveries.c.message_id == message, deliveries.c.agent_id == elected
    tx.execute(deliveries.update().where(*this).values(state=outcome))


def _states(tx: Tx, message: str) -> list[str]:
    return sorted(row.state for row in tx.all(sa.select(deliveries).where(deliveries.c.message_id == message)))


async def _started(nodes: list[Database]) -> list[str]:
    """Both nodes claim at once. The names of the agents whose runs start."""
    found = await asyncio.gather(*(node.write(claim, f"w{n}", 10, (), ()) for n, node in enumerate(nodes)))
    return sorted(run.agent_name for each in found for run in each.runs)


async def _begin(nodes: list[Database]) -> tuple[Scene, str]:
    scene = await nodes[0].write(_talk)
    claimed = await nodes[0].write(claim, "w0", 10, (), ())
    [run] = claimed.runs
    assert run.agent_name == "Guard"
    return scene, run.id


async def test_e12_two_nodes_hand_a_passed_message_over_once(nodes: list[Database]) -> None:
    _, run_id = await _begin(nodes)
    await nodes[0].write(_settle, run_id, "passed")
    assert await _started(nodes) == ["Architect", "Ops"]
    assert await _started(nodes) == []


async def test_e12_two_nodes_start_the_others_once_when_the_agent_has_not_begun(nodes: list[Database]) -> None:
    scene = await nodes[0].write(_talk)
    await nodes[0].write(_settle_alone, scene.message, scene.elected, "parked")
    clock.advance(9_999)
    assert await _started(nodes) == []
    clock.advance(1)
    assert await _started(nodes) == ["Architect", "Ops"]
    assert await _started(nodes) == []


async def test_e12_a_worker_that_dies_as_it_settles_hands_nothing_over(nodes: list[Database]) -> None:
    scene, run_id = await _begin(nodes)
    with pytest.raises(Killed):
        await nodes[0].write(_settle, run_id, "passed", True)
    assert await nodes[1].read(_states, scene.message) == ["pending", "pending", "taken"]
    assert await _started(nodes) == []
    await nodes[1].write(_settle, run_id, "passed")
    assert await _started(nodes) == ["Architect", "Ops"]


@pytest.mark.parametrize(
    ("outcome", "started", "states"),
    [("passed", ["Architect", "Ops"], ["passed", "taken", "taken"]), ("done", [], ["done", "passed", "passed"])],
)
async def test_e12_a_claim_finds_what_the_agent_did_even_if_its_run_sent_no_signal(
    nodes: list[Database], outcome: str, started: list[str], states: list[str]
) -> None:
    scene, _ = await _begin(nodes)
    await nodes[0].write(_settle_alone, scene.message, scene.elected, outcome)
    clock.advance(10_000)
    assert await _started(nodes) == started
    assert await nodes[0].read(_states, scene.message) == states


async def test_e12_a_claim_and_the_end_of_the_run_at_once_lose_nothing(nodes: list[Database]) -> None:
    scene, run_id = await _begin(nodes)
    clock.advance(10_000)
    _, claimed = await asyncio.gather(
        nodes[0].write(_settle, run_id, "passed"), nodes[1].write(claim, "w1", 10, (), ())
    )
    clock.advance(1000)
    later = await _started(nodes)
    assert sorted([*(run.agent_name for run in claimed.runs), *later]) == ["Architect", "Ops"]
    assert await nodes[0].read(_states, scene.message) == ["passed", "taken", "taken"]
