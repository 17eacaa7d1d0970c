"""E4: agents' messages start a limited number of runs for one cause."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.runs.claim.arrivals import Arrival
from majlis.runs.claim.runs_per_cause import without_excess
from majlis.settings import Settings
from majlis.store.tables import causes
from majlis.store.transactions import Tx
from tests.model_server import call, say, silent
from tests.runs.cycles import conscious, each_cycle
from tests.runs.house import House, open_house, says

LIMIT = 20

# Gathered messages are due at once, not after their time.
pytestmark = pytest.mark.usefixtures("standing_clock")


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    limits = {"max_runs_per_cause": LIMIT, "max_chain_depth": 50}
    async with open_house(settings.model_copy(update=limits)) as opened:
        yield opened


async def notices(house: House, space: str) -> list[str]:
    page = await house.owner.history(space, limit=200)
    return [message["text"] for message in page["messages"] if message["kind"] == "notice"]


def by_people(runs: list[Any]) -> list[Any]:
    return [run for run in runs if run["trigger"]["senderType"] == "human"]


async def test_e4_six_talkative_agents_stop_at_the_limit_and_the_space_says_so_once(house: House) -> None:
    agents = [await house.agent(f"Agent {n}") for n in range(6)]
    space = await house.space("Project Alpha", *agents)
    house.model.script = says("I agree.")
    await house.owner.say(space, "Hello everyone")
    await house.until_idle()
    runs = await house.runs()
    assert (len(by_people(runs)), len(runs)) == (6, 6 + LIMIT)
    assert {run["status"] for run in runs} == {"completed"}
    [notice] = await notices(house, space)
    assert notice.startswith(f"Agents' messages have started {LIMIT} runs since a person last posted")
    # What they said is stored and shown; a message that started no run says why.
    last = [each for each in (await house.owner.history(space, limit=200))["messages"] if each["kind"] == "text"][-1]
    assert last["text"] == "I agree."
    passed = await house.owner.ok("GET", f"/api/messages/{last['id']}/deliveries")
    assert {(each["state"], each["reason"]) for each in passed} == {("passed", "the limit of runs for one cause")}


async def test_e4_a_persons_next_message_has_an_allowance_of_its_own(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    space = await house.space("Project Alpha", ann, bob)
    house.model.script = says("And you?")
    await house.owner.say(space, "Talk")
    await house.until_idle()
    await house.owner.say(space, "Go on")
    await house.until_idle()
    runs = await house.runs()
    assert (len(by_people(runs)), len(runs)) == (4, 2 * (2 + LIMIT))
    assert len(await notices(house, space)) == 2


async def test_e4_a_resumed_run_does_not_count(house: House) -> None:
    """Ann asks Bob more often than the limit, in one run each; only Bob's runs count."""
    ann, bob = await house.agent("Ann", limits={"steps": 100, "waitsPerRun": 100}), await house.agent("Bob")
    space = await house.space("Project Alpha", ann, bob, triggers="mentioned")

    def script(asked: Any) -> Any:
        if asked.agent == "Bob":
            return say("Yes.") if asked.step == 0 else silent()
        return say("@Bob more?", wait=True)

    house.model.script = script
    await house.owner.say(space, "@Ann ask Bob until he is tired")
    await house.until_waiting()
    await house.until_idle()
    assert (len(await house.runs(ann)), len(await house.runs(bob))) == (1, LIMIT)
    assert len(await notices(house, space)) == 1


async def test_e4_a_consciousness_starts_no_cycle_past_the_limit(house: House) -> None:
    scout = await conscious(house)
    ann = await house.agent("Ann")
    space = await house.space("Project Alpha", scout, ann, triggers="mentioned")

    def script(asked: Any) -> Any:
        if asked.agent == "Ann":
            return say("@Scout and you?") if asked.step == 0 else silent()
        return each_cycle(call("enter_space", spaceId=space), say("@Ann and you?"))(asked)

    house.model.script = script
    await house.owner.say(space, "@Ann talk to Scout")
    await house.until_idle()
    assert len(await house.runs()) == 1 + LIMIT
    assert len(await notices(house, space)) == 1


async def test_e4_deliveries_that_a_refused_run_would_take_along_are_refused_with_it(house: House) -> None:
    """Otherwise each would be refused by a claim of its own, which first reads all that are left."""

    def arrival(name: str, cause: str = "cau_spent", sender: str = "agent") -> Arrival:
        delivery: Any = SimpleNamespace(id=name, cause_id=cause, event_id=name, payload={})
        event: Any = {"senderType": sender}
        return Arrival(delivery, event)

    def refuse(tx: Tx) -> tuple[list[str], list[str], int]:
        spent = {"id": "cau_spent", "kind": "message", "runs": LIMIT, "created_at": tx.now}
        tx.execute(causes.insert(), [spent, {**spent, "id": "cau_new", "runs": 0}])
        along = {"first": [arrival("same"), arrival("new", "cau_new"), arrival("person", sender="human")]}
        allowed, refused = without_excess(tx, [arrival("first"), arrival("other", "cau_new")], along)
        count = tx.execute(sa.select(causes.c.runs).where(causes.c.id == "cau_spent")).scalar_one()
        return [each.delivery.id for each in allowed], [each.delivery.id for each in refused], count

    assert await house.world.gateway.db.write(refuse) == (["other"], ["first", "same"], LIMIT + 1)
