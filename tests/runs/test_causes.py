"""O1–O4: every message, delivery and run knows what its chain began with, and on whose behalf."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from majlis.store.tables import causes, deliveries, messages
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import Asked, Reply, by_agent, call, say, sequence, silent
from tests.runs.cards import APPROVE, QUESTION, card_in, submit
from tests.runs.cycles import conscious, each_cycle
from tests.runs.house import House, says
from tests.world import Person

# Not for messages between agents: they gather until a moment has passed (E1).
standing = pytest.mark.usefixtures("standing_clock")


async def stored_causes(house: House) -> dict[str, Any]:
    def read(tx: Tx) -> dict[str, Any]:
        return {row.id: row for row in tx.all(sa.select(causes).order_by(causes.c.id))}

    return await house.world.gateway.db.read(read)


async def causes_of(house: House, table: sa.Table) -> set[tuple[str | None, str | None]]:
    def read(tx: Tx) -> set[tuple[str | None, str | None]]:
        rows = tx.all(sa.select(table.c.cause_id, table.c.person_id))
        return {(row.cause_id, row.person_id) for row in rows}

    return await house.world.gateway.db.read(read)


def person(who: Person, type: str = "human") -> dict[str, str]:
    return {"id": who.id, "name": who.name, "type": type}


async def test_o1_o2_a_cause_and_its_person_are_carried_along_every_hop(house: House) -> None:
    """The owner asks Ann, who tells Bob in another space; he answers there, and she hears that."""
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    here, there = await house.space("Here", ann), await house.space("There", ann, bob)
    ann_says = sequence(call("enter_space", spaceId=there), say("Bob, one please."), silent())
    house.model.script = by_agent({"Ann": ann_says, "Bob": [say("One."), silent()]})
    await house.owner.say(here, "Ask Bob for one")
    await house.until_idle()
    runs = await house.runs()
    assert [run["agentName"] for run in runs] == ["Ann", "Bob", "Ann"]
    [(cause_id, cause)] = (await stored_causes(house)).items()
    assert (cause.kind, cause.person_id, cause.message_id) == (
        "message", house.owner.id, runs[0]["trigger"]["messageId"],
    )  # fmt: skip
    assert [run["causeId"] for run in runs] == [cause_id] * 3
    assert [run["person"] for run in runs] == [person(house.owner)] * 3
    for table in (messages, deliveries):
        assert await causes_of(house, table) == {(cause_id, house.owner.id)}


@standing
async def test_o1_o2_a_plan_fires_for_the_person_who_last_had_it_changed(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    plan = {"name": "Look", "instruction": "Look.", "runAfter": "1 hour"}

    def change(asked: Asked) -> Reply:
        [known] = asked.results[-1]["plans"]
        return call("set_plans", plans=[{**plan, "id": known["id"]}])

    house.model.script = sequence(call("set_plans", plans=[plan]), silent())
    await house.owner.say(space, "Look later")
    await house.until_idle()
    house.model.script = sequence(call("get_plans"), change, silent())
    await sara.say(space, "Change it")
    await house.until_idle()
    house.model.script = sequence()
    house.advance(3600)
    await house.model.until_asked(6)
    await house.until_idle()
    _, changed, fired = await house.runs(scout)
    assert fired["person"] == person(sara)
    cause = (await stored_causes(house))[fired["causeId"]]
    assert (cause.kind, cause.parent_id) == ("plan", changed["causeId"])


@standing
async def test_o2_the_plans_of_a_deactivated_person_stop(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    plan = {"name": "Look", "instruction": "Look.", "cron": "0 * * * *"}
    house.model.script = sequence(call("set_plans", plans=[plan]), silent())
    await sara.say(space, "Look every hour")
    await house.until_idle()
    await house.owner.ok("DELETE", f"/api/entities/{sara.id}")
    house.advance(7200)

    async def has_stopped() -> bool:
        [plan] = await house.owner.ok("GET", f"/api/agents/{scout.id}/plans")
        return (plan["status"], plan["nextAt"]) == ("completed", None)

    await until(has_stopped)
    assert len(await house.runs(scout)) == 1


@standing
async def test_o2_a_service_event_acts_for_the_service_and_a_heartbeat_for_no_person(house: House) -> None:
    beat = {"everyMinutes": 60, "activeHours": None, "timezone": "UTC"}
    scout = await house.agent("Scout", heartbeat=beat)
    shop = await house.world.person("Shop", "service")
    event = {"serviceName": "Shop", "payload": {"n": 1}, "eventId": "e1"}
    for _ in range(2):
        await shop.ok("POST", f"/api/agents/{scout.id}/trigger", event)
    await house.until_idle()
    house.advance(3600)
    await house.model.until_asked(2)
    await house.until_idle()
    served, beaten = await house.runs(scout)
    assert (served["person"], beaten["person"]) == (person(shop, "service"), None)
    kinds = {cause_id: cause.kind for cause_id, cause in (await stored_causes(house)).items()}
    assert kinds == {served["causeId"]: "service", beaten["causeId"]: "heartbeat"}


async def test_o3_an_answer_by_another_person_does_not_change_whom_a_run_acts_for(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    house.model.script = sequence(say("Red or blue?", wait=True), say("Blue it is."), silent())
    await house.owner.say(space, "Choose a colour")
    await house.until_waiting()
    await sara.say(space, "Blue")
    await house.until_idle()
    [run] = await house.runs(scout)
    assert (run["status"], run["person"]) == ("completed", person(house.owner))
    said = {row.text: row for row in await _said(house)}
    assert said["Blue it is."].cause_id == said["Choose a colour"].cause_id == run["causeId"]
    assert (said["Blue"].person_id, said["Blue it is."].person_id) == (sara.id, house.owner.id)


async def test_o3_the_answer_to_a_card_is_an_event_of_the_cause_that_asked(house: House) -> None:
    scout, sara = await conscious(house, tools=[APPROVE]), await house.person("Sara")
    space = await house.space("Releases", scout, sara)
    house.model.script = each_cycle(call("enter_space", spaceId=space), call("approve", question=QUESTION))
    await house.owner.say(space, "go")
    await house.until_idle()
    house.model.script = each_cycle()
    assert (await submit(sara, await card_in(house, space), {"approved": True})).status_code == 200
    await house.until_idle()
    asked, answered = await house.runs(scout)
    assert answered["trigger"]["type"] == "tool_result"
    assert answered["causeId"] == asked["causeId"]
    assert answered["person"] == person(house.owner)


@standing
async def test_o3_a_retry_and_a_routed_turn_keep_the_cause(house: House) -> None:
    house.try_models_once()
    maestro, coder = await house.agent("Maestro", mind="roles"), await house.agent("Coder", mind="roles")
    space = await house.space("Alpha", maestro, coder, triggers="orchestrated", orchestratorId=maestro.id)
    house.model.script = by_agent(
        {
            "Maestro": sequence(Reply(status=500), call("route", agents=["Coder"]), silent(), silent()),
            "Coder": says("Built."),
        }
    )
    await house.owner.say(space, "Build it")
    await house.until_idle()
    house.advance(2)
    await house.model.until_asked(6)
    await house.until_idle()
    runs = await house.runs()
    assert [run["agentName"] for run in runs] == ["Maestro", "Maestro", "Coder", "Maestro"]
    assert len({run["causeId"] for run in runs}) == len(await stored_causes(house)) == 1


async def test_o4_a_message_sent_with_an_agents_token_acts_for_the_agent_and_keeps_its_depth(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    space = await house.space("Alpha", ann, bob, triggers="mentioned")
    house.model.script = sequence()
    begun = await house.owner.say(space, "hello")
    said = await ann.say(space, "@Bob look", replyTo=begun["id"])
    await house.until_idle()
    [run] = await house.runs(bob)
    assert said["chainDepth"] == run["chainDepth"] == 1
    assert run["person"] == person(ann, "agent")
    assert (await stored_causes(house))[run["causeId"]].message_id == said["id"]


async def _said(house: House) -> Any:
    return await house.world.gateway.db.read(lambda tx: tx.all(sa.select(messages)))
