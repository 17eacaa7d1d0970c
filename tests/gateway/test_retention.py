"""Old runs, steps, deliveries and cycles go by settings; without them, and while they are needed, they stay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from majlis import clock, retention
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.tables import cycles, deliveries, gateway, pasts, runs, steps, views, wait_answers
from majlis.store.transactions import Database, Tx
from tests.model_server import say, sequence, silent
from tests.runs.house import House, open_house
from tests.world import Person

DAY = 24 * 3_600_000
TABLES = (runs, steps, views, deliveries)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as house:
        yield house


def database(house: House) -> Database:
    return house.world.gateway.db


def settings_of(house: House, **days: int) -> Settings:
    return house.world.gateway.settings.model_copy(update={f"{name}_kept_days": kept for name, kept in days.items()})


async def delete_old(house: House, **days: int) -> int:
    """As if an hour had passed since the last time."""
    await database(house).write(lambda tx: tx.execute(gateway.delete().where(gateway.c.key == "retention_lease")))
    return await retention.delete_old(database(house), settings_of(house, **days))


async def counts(house: House) -> dict[str, int]:
    def count(tx: Tx) -> dict[str, int]:
        return {table.name: tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in TABLES}

    return await database(house).read(count)


async def answered(house: House, texts: list[str]) -> tuple[Person, str]:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    for text in texts:
        house.model.script = sequence(say(f"re: {text}"), silent())
        await house.owner.say(space, text)
        await house.until_idle()
    return scout, space


async def test_nothing_is_deleted_without_the_settings(house: House) -> None:
    await answered(house, ["one"])
    before = await counts(house)
    house.advance(1000 * 24 * 3600)
    assert await delete_old(house) == 0
    assert await counts(house) == before


async def test_old_runs_go_with_all_that_belongs_to_them_and_what_was_said_stays(house: House) -> None:
    scout, space = await answered(house, ["one", "two"])
    house.advance(10 * 24 * 3600)
    house.model.script = sequence(say("re: three"), silent())
    await house.owner.say(space, "three")
    await house.until_idle()
    before = await counts(house)
    assert before["runs"] == 3
    # Nothing is old enough.
    assert await delete_old(house, runs=30) == 0
    assert await delete_old(house, runs=5) > 0
    after = await counts(house)
    assert (after["runs"], after["deliveries"]) == (1, 1)
    assert 0 < after["steps"] < before["steps"]
    history = (await house.owner.history(space))["messages"]
    assert [message["text"] for message in history] == ["one", "re: one", "two", "re: two", "three", "re: three"]
    # Everything that looks at a message of a deleted run still works.
    for message in history:
        await house.owner.ok("GET", f"/api/messages/{message['id']}/why")
        await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    assert len(await house.runs(scout)) == 1
    house.model.script = sequence(say("re: four"), silent())
    await house.owner.say(space, "four")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "re: four")


async def test_steps_and_deliveries_can_go_before_their_runs(house: House) -> None:
    await answered(house, ["one"])
    house.advance(10 * 24 * 3600)
    assert await delete_old(house, steps=5) == 1
    after = await counts(house)
    assert (after["runs"], after["steps"], after["deliveries"]) == (1, 0, 1)
    assert await delete_old(house, deliveries=5) == 1
    assert (await counts(house))["deliveries"] == 0
    [run] = await house.runs()
    assert (await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")) in ([], {"steps": []})


async def test_active_runs_are_kept_however_old_they_are(house: House) -> None:
    """A run that waits, and an event that is to be tried again, with the run that failed."""
    await answered(house, ["one"])

    def keep_open(tx: Tx) -> None:
        tx.execute(deliveries.update().values(state="pending", not_before=2**60))

    await database(house).write(keep_open)
    house.advance(100 * 24 * 3600)
    before = await counts(house)
    assert await delete_old(house, runs=1, steps=1, deliveries=1) == 0
    await database(house).write(lambda tx: tx.execute(runs.update().values(status="waiting_reply", ended_at=None)))
    await database(house).write(lambda tx: tx.execute(deliveries.update().values(state="done")))
    await database(house).write(lambda tx: tx.execute(views.delete()))
    assert await delete_old(house, runs=1, steps=1) == 1
    assert await counts(house) == {**before, "views": 0, "deliveries": 0}


async def test_many_pages_go_in_small_transactions(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await answered(house, ["one"])
    monkeypatch.setattr(retention, "_PAGE", 7)

    def copy(tx: Tx) -> None:
        run = dict(tx.execute(sa.select(runs)).mappings().one())
        long_ago = clock.now() - 100 * DAY
        for n in range(50):
            made = ids.first_at("run", long_ago + n)
            tx.execute(runs.insert(), {**run, "id": made, "created_at": long_ago, "ended_at": long_ago + n})
            step: dict[str, Any] = {"kind": "model", "state": "done", "started_at": long_ago}
            tx.execute(steps.insert(), {"run_id": made, "n": 0, **step})
            answer = {"wait_n": 1, "entity_id": house.owner.id, "message_id": "msg_0000000000000000"}
            tx.execute(wait_answers.insert(), {"run_id": made, **answer})

    await database(house).write(copy)
    assert await delete_old(house, runs=30) == 100
    assert (await counts(house))["runs"] == 1


async def test_summarized_cycles_go_and_those_that_are_shown_in_full_stay(house: House) -> None:
    scout, _ = await answered(house, ["one"])
    [run] = await house.runs()
    long_ago = clock.now() - 100 * DAY

    def remember(tx: Tx) -> None:
        for n in range(1, 6):
            cycle = {"agent_id": scout.id, "n": n, "run_id": run["id"], "messages": [], "tokens": 1}
            tx.execute(cycles.insert(), {**cycle, "created_at": long_ago})
        past = {"agent_id": scout.id, "through": 3, "trimmed": 0, "cap": 0, "groups": [], "updated_at": long_ago}
        tx.execute(pasts.insert(), past)

    await database(house).write(remember)
    house.advance(10 * 24 * 3600)
    assert await delete_old(house, cycles=30, runs=1) == 3 + 2
    numbers = await database(house).read(lambda tx: tx.execute(sa.select(cycles.c.n)).scalars().all())
    assert sorted(numbers) == [4, 5]
    # A cycle that is left needs its run.
    assert (await counts(house))["runs"] == 1


async def test_one_of_several_nodes_does_it_once_an_hour(house: House) -> None:
    await answered(house, ["one"])
    house.advance(10 * 24 * 3600)
    db, given = database(house), settings_of(house, runs=1)
    assert await retention.delete_old(db, given) > 0
    await answered_again(house)
    house.advance(1800)
    await database(house).write(lambda tx: tx.execute(runs.update().values(ended_at=1)))
    assert await retention.delete_old(db, given) == 0


async def answered_again(house: House) -> None:
    [space] = await house.owner.ok("GET", "/api/spaces")
    house.model.script = sequence(say("re: again"), silent())
    await house.owner.say(space["id"], "again")
    await house.until_idle()
