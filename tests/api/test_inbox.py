"""Deliveries to agents, as people and services see them."""

from __future__ import annotations

import asyncio

import pytest

from majlis import clock
from majlis.inbox.deliver import deliver_tool_result
from majlis.settings import Settings
from majlis.store.tables import deliveries
from tests.api.test_bad_input import UNKNOWN, assert_error
from tests.past_runs import add_cycle, add_delivery, add_run
from tests.world import Person, World


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0})


async def test_a_message_lists_its_delivery_to_each_agent(world: World) -> None:
    sara = await world.person("Sara")
    scout, guide = await world.agent("Scout"), await world.agent("Guide")
    space = await world.owner.create_space("Project Alpha", sara)
    message = await sara.say(space, "hello")
    run = await add_run(world, scout, message)
    later = clock.now() + 60_000
    await add_delivery(
        world, scout, message["id"], message_id=message["id"], state="done", run_id=run, type="space_message"
    )
    await add_delivery(
        world, guide, message["id"], message_id=message["id"], attempts=2, not_before=later, type="space_message"
    )
    assert await sara.ok("GET", f"/api/messages/{message['id']}/deliveries") == [
        {
            "agentId": scout.id,
            "agentName": "Scout",
            "state": "done",
            "reason": None,
            "runId": run,
            "attempts": 0,
            "nextAttemptAt": None,
        },
        {
            "agentId": guide.id,
            "agentName": "Guide",
            "state": "pending",
            "reason": None,
            "runId": None,
            "attempts": 2,
            "nextAttemptAt": clock.iso(later),
        },
    ]
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
    assert_error(await sara.get(f"/api/messages/{message['id']}/deliveries"), 404, "unknown_message")


async def test_c5_an_inbox_shows_what_is_pending_or_taken_to_the_agent_and_administrators_only(world: World) -> None:
    scout, other = await world.agent("Scout"), await world.agent("Other")
    run = await add_run(world, scout, status="running")
    first = await add_delivery(world, scout, "e1", state="taken", run_id=run)
    for state in ("done", "passed", "failed"):
        await add_delivery(world, scout, f"e-{state}", state=state, run_id=run)
    second = await add_delivery(world, scout, "e2")
    await add_delivery(world, other, "e3")
    for reader in (scout, world.owner):
        inbox = await reader.ok("GET", f"/api/agents/{scout.id}/inbox")
        assert [(each["id"], each["state"], each["runId"]) for each in inbox] == [
            (first, "taken", run),
            (second, "pending", None),
        ]
    [oldest] = await scout.ok("GET", f"/api/agents/{scout.id}/inbox", limit=1)
    assert oldest["id"] == first
    for stranger in (other, await world.person("Sara")):
        for part in ("inbox", "consciousness"):
            assert_error(await stranger.get(f"/api/agents/{scout.id}/{part}"), 403, "not_allowed")
    assert_error(await world.owner.get(f"/api/agents/ent_{UNKNOWN}/inbox"), 404, "unknown_agent")


async def test_k1_an_inbox_names_events_by_the_ids_that_their_senders_know(world: World) -> None:
    scout, shop = await world.agent("Scout"), await world.person("Shop", type="service")
    trigger = {"serviceName": "shop", "payload": {}, "eventId": "order-7"}
    await shop.ok("POST", f"/api/agents/{scout.id}/trigger", trigger)
    await world.gateway.db.write(deliver_tool_result, scout.id, "run_1", "call_9", "ask", {}, 0)
    inbox = await world.owner.ok("GET", f"/api/agents/{scout.id}/inbox")
    assert [each["eventId"] for each in inbox] == ["order-7", "call_9"]


async def test_k3_a_consciousness_is_paged_from_its_latest_cycle_back(world: World) -> None:
    scout = await world.agent("Scout", mind="consciousness")
    run = await add_run(world, scout)
    for n in range(1, 6):
        await add_cycle(world, scout, n, run, summary=f"what {n} was about")
    page = await scout.ok("GET", f"/api/agents/{scout.id}/consciousness", limit=3)
    assert ([cycle["n"] for cycle in page["cycles"]], page["hasMore"]) == ([5, 4, 3], True)
    page = await scout.ok("GET", f"/api/agents/{scout.id}/consciousness", limit=3, before=3)
    assert ([cycle["n"] for cycle in page["cycles"]], page["hasMore"]) == ([2, 1], False)
    latest = page["cycles"][0]
    assert (latest["runId"], latest["summary"], latest["tokens"]) == (run, "what 2 was about", 7)
    assert latest["messages"] == [{"role": "user", "content": "cycle 2"}]


async def test_p5_the_same_event_sent_twice_is_delivered_once(world: World) -> None:
    scout, shop = await world.agent("Scout"), await world.person("Shop", type="service")
    event = {"serviceName": "Shop", "payload": {"order": 7}, "eventId": "order-7"}
    answers = await asyncio.gather(*(shop.post(f"/api/agents/{scout.id}/trigger", event) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {202}
    told = [answer.json() for answer in answers]
    assert sorted(each["duplicate"] for each in told) == [False, True, True, True, True]
    [owed] = {each["deliveryId"] for each in told}
    found = await stored(world, scout)
    assert found == {owed: {"serviceName": "Shop", "payload": {"order": 7}, "eventId": "order-7"}}
    del event["eventId"]
    again = [await shop.ok("POST", f"/api/agents/{scout.id}/trigger", event) for _ in range(2)]
    assert [each["duplicate"] for each in again] == [False, False]
    assert len(await stored(world, scout)) == 3


async def test_p5_event_ids_of_two_services_do_not_collide(world: World) -> None:
    scout = await world.agent("Scout")
    event = {"serviceName": "Shop", "payload": None, "eventId": "1"}
    for name in ("Shop", "Mallory"):
        service = await world.person(name, type="service")
        assert not (await service.ok("POST", f"/api/agents/{scout.id}/trigger", event))["duplicate"]


async def test_p5_only_services_and_administrators_can_trigger_agents(world: World) -> None:
    scout = await world.agent("Scout")
    event = {"serviceName": "Shop", "payload": [1]}
    for nobody in (await world.person("Sara"), await world.agent("Other"), scout):
        assert_error(await nobody.post(f"/api/agents/{scout.id}/trigger", event), 403, "not_allowed")
    await world.owner.ok("POST", f"/api/agents/{scout.id}/trigger", event)
    shop = await world.person("Shop", type="service")
    for nothing in (f"ent_{UNKNOWN}", shop.id):
        assert_error(await shop.post(f"/api/agents/{nothing}/trigger", event), 404, "unknown_agent")
    await world.owner.ok("DELETE", f"/api/agents/{scout.id}")
    assert_error(await shop.post(f"/api/agents/{scout.id}/trigger", event), 404, "unknown_agent")


DEEP = "[" * 40 + "]" * 40
BAD_EVENTS = [
    ('{"serviceName": "S"}', "invalid_request"),
    ('{"serviceName": "", "payload": 1}', "invalid_request"),
    ('{"serviceName": "a\\nb", "payload": 1}', "invalid_request"),
    (f'{{"serviceName": "{"x" * 129}", "payload": 1}}', "invalid_request"),
    ('{"serviceName": "S", "payload": 1, "eventId": ""}', "invalid_request"),
    ('{"serviceName": "S", "payload": 1, "chainDepth": 0}', "invalid_request"),
    (f'{{"serviceName": "S", "payload": {DEEP}}}', "invalid_payload"),
    ('{"serviceName": "S", "payload": {"a": ["\\u0000"]}}', "invalid_payload"),
    ('{"serviceName": "S", "payload": "\\ud800"}', "invalid_payload"),
    ('{"serviceName": "S", "payload": NaN}', "invalid_payload"),
    (f'{{"serviceName": "S", "payload": "{"x" * 270_000}"}}', "invalid_payload"),
]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_an_event_that_cannot_be_stored_is_refused_with_its_path(world: World) -> None:
    scout = await world.agent("Scout")
    for body, code in BAD_EVENTS:
        headers = {"content-type": "application/json"}
        answer = await world.owner.http.post(f"/api/agents/{scout.id}/trigger", content=body, headers=headers)
        assert_error(answer, 422, code)
        if code == "invalid_payload":
            assert answer.json()["error"]["message"].startswith("payload")
    assert await stored(world, scout) == {}


async def stored(world: World, agent: Person) -> dict[str, object]:
    wanted = deliveries.select().where(deliveries.c.agent_id == agent.id)
    return {row.id: row.payload for row in await world.gateway.db.read(lambda tx: tx.all(wanted))}
