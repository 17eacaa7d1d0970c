"""M8, T7 under concurrency: exactly one of several events ends a wait; the others change nothing.

The functions are called on two databases, like by two nodes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.settings import Settings
from majlis.spaces.post import Draft
from majlis.store import ids
from majlis.store.open import open_database
from majlis.store.tables import deliveries, runs
from majlis.store.transactions import Database, Tx
from majlis.waits.wait import time_out
from tests.world import World

WAITS = 500
SPACES = 10
# Much longer than the test takes, so that only the steps of the clock make a wait due.
STEP = 60_000


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: waits end, and no run continues."""
    return settings.model_copy(update={"workers": 0, "requests_per_second": 0})


@pytest.fixture
async def nodes(world: World, database_url: str) -> AsyncIterator[list[Database]]:
    opened = [open_database(database_url) for _ in range(2)]
    yield opened
    for node in opened:
        await node.close()


async def waiting_runs(world: World, count: int) -> list[tuple[str, str, str]]:
    """Runs that wait for an answer to their own message: the first for one step of the clock, the next for two, and so
    on. Run, space and message of each."""
    scout = await world.agent("Scout")
    spaces = [await world.owner.create_space(f"Space {n}", scout) for n in range(SPACES)]
    sender = Caller(scout.id, "Scout", "agent", "member", "tok_x")

    def fill(tx: Tx) -> list[tuple[str, str, str]]:
        waits: list[tuple[str, str, str]] = []
        for n in range(count):
            space = spaces[n % SPACES]
            question = post_message(tx, sender, space, Draft(f"question {n}"))
            waits.append((ids.new("run"), space, question["id"]))
        tx.execute(runs.insert(), [_waiting(scout.id, n, *wait) for n, wait in enumerate(waits, 1)])
        return waits

    return await world.gateway.db.write(fill)


def _waiting(agent_id: str, n: int, run_id: str, space_id: str, message_id: str) -> dict[str, Any]:
    now = clock.now()
    return {
        "id": run_id,
        "agent_id": agent_id,
        "status": "waiting_reply",
        "trigger": {"type": "service", "chainDepth": 0, "serviceName": "Shop", "payload": None, "eventId": run_id},
        "active_space_id": space_id,
        "wait": {"spaceId": space_id, "messageId": message_id, "startedAt": iso(now), "timeoutSeconds": 300},
        "wait_space_id": space_id,
        "wait_message_id": message_id,
        "deadline": now + n * STEP,
        "created_at": now,
    }


async def test_m8_an_answer_and_the_deadline_in_the_same_instant_end_a_wait_once(
    world: World, nodes: list[Database]
) -> None:
    waits = await waiting_runs(world, WAITS)
    owner = Caller(world.owner.id, "Owner", "human", "owner", "tok_y")
    timed_out = 0
    for n, (_, space, question) in enumerate(waits):
        clock.advance(STEP)
        answer = nodes[n % 2].write(post_message, owner, space, Draft("answer", reply_to=question))
        deadline = nodes[1 - n % 2].write(time_out)
        # The first one has a small advantage, so they take turns. Now and then one of them is clearly first, because on
        # a busy machine the other might never win.
        if n % 10 == 0:
            await answer
            ended = await deadline
        elif n % 10 == 5:
            ended = await deadline
            await answer
        elif n % 2:
            _, ended = await asyncio.gather(answer, deadline)
        else:
            ended, _ = await asyncio.gather(deadline, answer)
        timed_out += ended
    outcomes = await world.gateway.db.read(_outcomes)
    assert len(outcomes) == WAITS
    assert {status for status, _, _ in outcomes.values()} == {"queued"}
    hows = Counter(how for _, how, _ in outcomes.values())
    assert hows["replied"] + hows["timeout"] == WAITS
    assert hows["timeout"] == timed_out
    assert min(hows["replied"], hows["timeout"]) > 0
    # A run that was resumed by an answer took its delivery; every other answer is delivered as usual.
    owed = await world.gateway.db.read(_deliveries)
    assert len(owed) == WAITS
    taken = {run_id for state, run_id in owed if state == "taken"}
    assert taken == {run_id for run_id, (_, how, _) in outcomes.items() if how == "replied"}
    assert Counter(state for state, _ in owed) == {"taken": hows["replied"], "pending": hows["timeout"]}


async def test_m8_two_answers_a_deadline_and_a_cancel_leave_one_winner(world: World, nodes: list[Database]) -> None:
    waits = await waiting_runs(world, 20)
    owner = Caller(world.owner.id, "Owner", "human", "owner", "tok_y")

    async def cancel(run_id: str) -> bool:
        response = await world.owner.post(f"/api/runs/{run_id}/cancel")
        assert response.status_code in (200, 409)
        return bool(response.status_code == 200)

    async def end_all_ways(run_id: str, space: str, question: str) -> bool:
        clock.advance(STEP)
        canceling = asyncio.create_task(cancel(run_id))
        await asyncio.gather(
            nodes[0].write(post_message, owner, space, Draft("one", reply_to=question)),
            nodes[1].write(post_message, owner, space, Draft("two", reply_to=question)),
            nodes[1].write(time_out),
        )
        return await canceling

    canceled = [await end_all_ways(*wait) for wait in waits]
    outcomes = await world.gateway.db.read(_outcomes)
    for (run_id, *_), was_canceled in zip(waits, canceled, strict=True):
        status, how, _ = outcomes[run_id]
        assert status == ("canceled" if was_canceled else "queued")
        assert how in ("replied", "timeout", None)
    # Each answer is delivered once, and taken at most by the run that it resumed.
    owed = await world.gateway.db.read(_deliveries)
    assert len(owed) == 40
    taken = [run_id for state, run_id in owed if state == "taken" and run_id]
    assert len(taken) == len(set(taken))
    assert all(outcomes[run_id][:2] == ("queued", "replied") for run_id in taken)


async def test_t7_the_same_event_offered_by_two_nodes_is_delivered_once(world: World, nodes: list[Database]) -> None:
    scout = await world.agent("Scout")
    told = await asyncio.gather(
        *(
            world.owner.ok(
                "POST", f"/api/agents/{scout.id}/trigger", {"serviceName": "Shop", "payload": 1, "eventId": "o-7"}
            )
            for _ in range(20)
        )
    )
    assert Counter(each["duplicate"] for each in told) == {True: 19, False: 1}
    assert len({each["deliveryId"] for each in told}) == 1
    assert len(await world.gateway.db.read(_deliveries)) == 1


def _outcomes(tx: Tx) -> dict[str, tuple[str, str | None, str | None]]:
    """How each wait ended: status of the run, outcome, and the message."""
    rows = tx.all(sa.select(runs.c.id, runs.c.status, runs.c.wait))
    found = {row.id: (row.status, (row.wait or {}).get("outcome") or {}) for row in rows}
    return {run: (status, how.get("status"), how.get("messageId")) for run, (status, how) in found.items()}


def _deliveries(tx: Tx) -> list[tuple[str, str | None]]:
    return [(row.state, row.run_id) for row in tx.all(sa.select(deliveries.c.state, deliveries.c.run_id))]
