"""G1: which runs a death counts against, and how a busy worker makes room for a run that must be tried alone."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.entities.caller import Caller
from majlis.inbox.services import trigger_agent
from majlis.runs import worker as worker_module
from majlis.runs.claim.claim import claim
from majlis.runs.claim.deaths import acquit
from majlis.runs.claim.lease import RUN_LEASE_MILLIS
from majlis.store.tables import runs
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import Asked, Reply, silent
from tests.runs.house import House
from tests.world import Person


def begin_elsewhere(tx: Tx, house: House, agent: Person, row: dict[str, int]) -> str:
    """A run that another worker has claimed and abandoned."""
    trigger_agent(tx, Caller(house.owner.id, house.owner.name, "human", "owner", ""), agent.id, "Shop", {})
    [run] = claim(tx, "elsewhere", 1, (), ()).runs
    tx.execute(runs.update().where(runs.c.id == run.id).values(row))
    return run.id


async def test_g1_a_busy_worker_hands_back_its_runs_to_try_a_suspect_alone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "_ISOLATE_AFTER_MILLIS", 1)
    monkeypatch.setattr(worker_module, "POLL_MILLIS", 20)
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.agent == "Suspect":
            gate.set()
        return silent() if asked.agent == "Suspect" else Reply(text="done", gate=gate)

    house.model.script = script
    busy, suspect = await house.agent("Busy"), await house.agent("Suspect")
    await house.tell(busy)
    await house.model.until_asked(1)
    await house.world.gateway.db.write(begin_elsewhere, house, suspect, {"lease_until": 0, "deaths": 1})
    await house.until_idle()
    [first], [second] = await house.runs(busy), await house.runs(suspect)
    assert (first["status"], second["status"]) == ("completed", "completed")
    assert [asked.agent for asked in house.model.asked] == ["Busy", "Suspect", "Busy"]
    assert first["attempts"] == 1, "handing back is not a death"


async def test_g1_an_expired_lease_is_not_a_death_if_the_worker_is_alive(house: House) -> None:
    agent = await house.agent("Scout")
    house.model.script = lambda asked: Reply(text="done", gate=gate)
    gate = asyncio.Event()
    run_id = await house.world.gateway.db.write(begin_elsewhere, house, agent, {"lease_until": 0})
    await house.model.until_asked(1)
    deaths = sa.select(runs.c.deaths).where(runs.c.id == run_id)
    assert await house.world.gateway.db.read(lambda tx: tx.execute(deaths).scalar_one()) == 1
    await house.world.gateway.db.write(acquit, run_id, 1)
    assert await house.world.gateway.db.read(lambda tx: tx.execute(deaths).scalar_one()) == 0
    gate.set()
    await house.until_idle()


async def test_g1_a_worker_that_lost_its_run_says_that_it_is_alive(house: House) -> None:
    """Another worker took the run over after its lease had expired."""
    agent = await house.agent("Scout")
    house.model.script = lambda asked: Reply(text="done", gate=asyncio.Event())
    await house.tell(agent)
    await house.model.until_asked(1)
    [run] = await house.runs(agent)

    def take_over(tx: Tx) -> int:
        later = clock.now() + 2 * RUN_LEASE_MILLIS
        tx.now = later
        [taken] = claim(tx, "elsewhere", 1, (), ()).runs
        assert taken.id == run["id"]
        return taken.deaths

    assert await house.world.gateway.db.write(take_over) == 1
    deaths = sa.select(runs.c.deaths).where(runs.c.id == run["id"])

    async def acquitted() -> bool:
        return not await house.world.gateway.db.read(lambda tx: tx.execute(deaths).scalar_one())

    await until(acquitted)
