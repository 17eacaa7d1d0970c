"""J2: a run's usage is stored with the model it used, also when its worker dies or its agent changes."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa

from majlis.store.tables import runs
from majlis.store.transactions import Tx
from tests.model_server import say, sequence, silent
from tests.runs.house import House, says


async def models(house: House) -> list[str | None]:
    """The models of all runs, oldest first."""
    rows = await house.world.gateway.db.read(Tx.all, sa.select(runs.c.model).order_by(runs.c.id))
    return [row.model for row in rows]


async def change_model(house: House, agent_id: str, name: str) -> None:
    config = {"model": {**house.model.model, "name": name}}
    await house.owner.ok("PATCH", f"/api/agents/{agent_id}", {"config": config})


async def test_j2_a_run_keeps_the_model_that_it_has_used(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = says("Hello.")
    await house.owner.say(space, "one")
    await house.until_idle()
    await change_model(house, scout.id, "another")
    await house.owner.say(space, "two")
    await house.until_idle()
    assert await models(house) == ["openai:scripted", "openai:another"]


async def test_j2_a_run_that_is_canceled_before_it_has_asked_again_keeps_its_model(house: House) -> None:
    """It is resumed with another model, on which it has spent nothing."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    stuck = silent()
    stuck.gate = asyncio.Event()
    house.model.script = sequence(say("Well?", wait=True), stuck)
    await house.owner.say(space, "Ask me")
    await house.until_waiting()
    await change_model(house, scout.id, "another")
    await house.owner.say(space, "answer")
    await house.model.until_asked(2)
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    stuck.gate.set()
    await house.until_idle()
    assert await models(house) == ["openai:scripted"]


async def test_j2_a_run_keeps_the_longest_name_a_model_may_have(house: House) -> None:
    """Only PostgreSQL enforces the width of a column."""
    longest = {**house.model.model, "provider": "p" * 64, "name": "n" * 200}
    scout = await house.world.agent("Scout", model=longest)
    space = await house.space("Project Alpha", scout)
    house.model.script = says("Hello.")
    await house.owner.say(space, "one")
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "one"), ("Scout", "Hello.")]
    assert await models(house) == [f"{'p' * 64}:{'n' * 200}"]
