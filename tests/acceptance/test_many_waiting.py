"""M4: a waiting run is only a row. Ten thousand of them cost a worker no task, no connection and hardly any memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from majlis import clock
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.tables import runs
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import EAGER_MILLIS, Report, WorkerProcess, Workers
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, say, silent
from tests.world import Person, World, serve_world

CROWD = 10_000
HANDFUL = 5
HOUR = 3_600_000


@dataclass
class Hall:
    workers: Workers
    world: World
    ledger: Ledger
    agent: Person

    async def rooms(self) -> list[str]:
        return [await self.world.owner.create_space(f"Room {n}", self.agent) for n in range(HANDFUL)]

    async def wait_in(self, spaces: list[str], deadline: int) -> list[str]:
        """One waiting run for each space, as `send_message` with `wait: true` leaves it."""
        rows = [self._waiting(space, deadline) for space in spaces]
        await self.ledger.execute(runs.insert(), rows)
        return [row["id"] for row in rows]

    async def until_completed(self, expected: list[str]) -> None:
        async def holds() -> bool:
            ended = {run["id"] for run in await self.ledger.ended()}
            return ended >= set(expected)

        await until(holds)

    async def work(self, worker: WorkerProcess) -> Report:
        """A few runs time out and a few are answered; returns what the idle worker holds afterwards."""
        late, asking = await self.rooms(), await self.rooms()
        timed_out = await self.wait_in(late, clock.now() - 1)
        answered = await self.wait_in(asking, clock.now() + HOUR)
        for space in asking:
            await self.world.owner.say(space, "Yes.")
        await self.until_completed([*timed_out, *answered])
        for space, heard in [*((s, "nobody came") for s in late), *((s, "thank you") for s in asking)]:
            assert (await self.ledger.texts(space))[-1] == heard
        while (report := await worker.report()).runs:
            pass
        return report

    def _waiting(self, space: str, deadline: int) -> dict[str, Any]:
        message = ids.new("msg")
        wait = {"spaceId": space, "messageId": message, "startedAt": clock.iso(clock.now()), "timeoutSeconds": 300}
        return {
            "id": ids.new("run"),
            "agent_id": self.agent.id,
            "status": "waiting_reply",
            "trigger": {"type": "service", "chainDepth": 0, "serviceName": "Shop", "payload": {}, "eventId": "o-7"},
            "active_space_id": space,
            "wait": wait,
            "wait_space_id": space,
            "wait_message_id": message,
            "deadline": deadline,
            "fence": 1,
            "attempts": 1,
            "waits": 1,
            "created_at": clock.now(),
            "started_at": clock.now(),
        }


def polite(asked: Asked) -> Reply:
    if asked.step:
        return silent()
    return say("nobody came" if "← RESUME: timeout" in asked.text else "thank you")


@pytest.fixture
async def hall(workers: Workers, model: ModelServer) -> AsyncIterator[Hall]:
    model.script = polite
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as world:
        agent = await world.agent("Waiter", model=model.model)
        yield Hall(workers, world, Ledger(world.gateway.db), agent)


async def test_m4_ten_thousand_waiting_runs_cost_a_worker_nothing_and_go_on_after_a_restart(hall: Hall) -> None:
    alone = await hall.workers.start(poll_millis=EAGER_MILLIS)
    before = await hall.work(alone)
    alone.terminate()
    await alone.until_gone()
    space = await hall.world.owner.create_space("Waiting room", hall.agent)
    await hall.wait_in([space] * CROWD, clock.now() + HOUR)
    crowded = await hall.workers.start(poll_millis=EAGER_MILLIS)
    after = await hall.work(crowded)
    print(f"without: {before}; with {CROWD} waiting: {after}")  # noqa: T201 - shown with pytest -s
    # A pause of the worker is one task. There is a connection for each concurrent transaction.
    assert after.tasks <= before.tasks + 1
    assert after.files <= before.files + HANDFUL
    assert after.kilobytes < before.kilobytes + 5_000
    assert Counter(await hall.ledger.statuses()) == {"waiting_reply": CROWD, "completed": 4 * HANDFUL}
