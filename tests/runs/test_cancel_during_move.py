"""J3: a run is canceled while it moves from one space to another."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import call, sequence
from tests.runs import deploy_tools
from tests.runs.deploy_tools import HERE, tool
from tests.runs.house import House
from tests.runs.space_lock import space_locked


@pytest.fixture
def settings(settings: Settings) -> Settings:
    deploy_tools.release.clear()
    return settings.model_copy(update={"tool_modules": [HERE]})


@pytest.mark.parametrize("engine", ["postgresql"])
async def test_j3_a_run_that_goes_elsewhere_while_its_cancel_waits_leaves_nothing_under_way_there(house: House) -> None:
    """The first space is locked for a moment, and the cancel waits for it. It is not a person's, which would ask the
    worker to stop first (L7). On SQLite there is only one writer, so this
    cannot happen."""
    scout = await house.agent("Scout", tools=[tool("hold", visible=True)])
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta", scout)
    goes = call("enter_space", spaceId=beta)
    goes.gate = asyncio.Event()
    house.model.script = sequence(goes, call("hold"))
    await house.owner.say(alpha, "go to Beta")
    await house.model.until_asked(1)
    [run] = await house.runs()
    async with house.owner.follow(beta) as follower:
        async with space_locked(house.world.gateway.db, alpha):
            canceling = asyncio.create_task(scout.ok("POST", f"/api/runs/{run['id']}/cancel"))
            await until(lambda: house.world.gateway.db.read(_somebody_waits))
            goes.gate.set()
            begun = await follower.until("space.message")
        assert (await canceling)["status"] == "canceled"
        await follower.until("agent.inactive", runId=run["id"])
    deploy_tools.release.set()
    [shown] = (await house.owner.history(beta))["messages"]
    assert (shown["id"], shown["tool"]["status"]) == (begun.data["message"]["id"], "error")


def _somebody_waits(tx: Tx) -> bool:
    """For a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(tx.execute(sa.text(waiting)).scalar_one())
