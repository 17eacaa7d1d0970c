"""Every resource through both clients, against a real server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import assert_type, get_type_hints

import pytest

from majlis import __version__
from majlis.api.routes import health as health_routes
from majlis.client import MajlisClient, SyncMajlisClient, shapes
from majlis.client.shapes import MeJson, MessageJson, SpaceJson
from majlis.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from majlis.settings import Settings
from tests.client.proxy import Proxy
from tests.past_runs import add_cycle, add_delivery, add_run, add_steps, add_view
from tests.world import World


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0})


async def test_people_and_services_are_made_found_changed_and_deleted(client: MajlisClient) -> None:
    sara = await client.create_entity("human", "Sara", external_id="crm-1")
    shop = await client.create_entity("service", "Shop")
    assert sara["externalId"] == "crm-1"
    assert await client.get_entity(sara["id"]) == sara
    assert [entity["name"] for entity in await client.list_entities()] == ["Owner", "Sara", "Shop"]
    assert await client.list_entities("service") == [shop]
    assert await client.list_entities(after=sara["id"], limit=1) == [shop]
    changed = await client.change_entity(sara["id"], name="Sarah", external_id=None, role="admin")
    assert (changed["name"], changed["externalId"], changed["role"]) == ("Sarah", None, "admin")
    await client.delete_entity(shop["id"])
    with pytest.raises(NotFound):
        await client.get_entity(shop["id"])


async def test_a_token_works_until_it_is_revoked(world: World, client: MajlisClient) -> None:
    sara = await client.create_entity("human", "Sara")
    in_an_hour = datetime.now(UTC) + timedelta(hours=1)
    made = await client.create_token(sara["id"], label="laptop", expires_at=in_an_hour)
    async with MajlisClient(world.base_url, made["token"]) as hers:
        assert await hers.me() == {"id": sara["id"], "name": "Sara", "type": "human", "role": "member", "picture": None}
        with pytest.raises(Forbidden):
            await hers.create_entity("human", "Mallory")
        assert [token["label"] for token in await client.list_tokens(sara["id"])] == ["laptop"]
        await client.revoke_token(made["id"])
        with pytest.raises(Unauthenticated):
            await hers.me()
    link = await client.create_sign_in_link(sara["id"])
    assert link["url"].startswith(f"{world.base_url}/sign-in/")


async def test_an_agent_is_made_and_its_config_changed(client: MajlisClient) -> None:
    agent = await client.create_agent("Designer", {"instructions": "Draw.", "model": "demo"})
    assert agent["config"]["instructions"] == "Draw."
    changed = await client.change_agent(agent["id"], name="Painter", config={"instructions": "Paint."})
    assert (changed["name"], changed["config"]["instructions"]) == ("Painter", "Paint.")
    assert await client.list_agents() == [changed] == [await client.get_agent(agent["id"])]
    assert (await client.agent_config_schema())["type"] == "object"
    with pytest.raises(Invalid) as refused:
        await client.create_agent("Broken", {"windo": 3})
    assert refused.value.status == 422
    await client.delete_agent(agent["id"])
    assert await client.list_agents() == []


async def test_deliveries_memories_and_runs_of_agents_can_be_read(world: World, client: MajlisClient) -> None:
    scout = await world.agent("Scout")
    space = (await client.create_space("Lobby"))["id"]
    message = await client.post(space, "hello")
    run = await add_run(world, scout, message, status="running")
    await add_steps(world, run, {"name": "deploy", "input": {"to": "prod"}, "output": "done"})
    await add_view(world, run, 1, None, [{"role": "user", "content": "hello"}])
    await add_delivery(world, scout, message["id"], message_id=message["id"], state="taken", run_id=run)
    await add_cycle(world, scout, 1, run)
    page = await client.list_runs(scout.id, space, "running", limit=5)
    assert ([found["id"] for found in page["runs"]], page["hasMore"]) == ([run], False)
    assert (await client.list_runs(before=run))["runs"] == []
    assert await client.get_run(run) == page["runs"][0]
    assert [step.get("name") for step in await client.list_steps(run)] == ["deploy"]
    assert (await client.get_context(run))["requests"][0]["messages"] == [{"role": "user", "content": "hello"}]
    assert [heard["runId"] for heard in await client.list_deliveries(message["id"])] == [run]
    assert [owed["state"] for owed in await client.list_inbox(scout.id, limit=5)] == ["taken"]
    assert [cycle["n"] for cycle in (await client.list_cycles(scout.id, 5, before=2))["cycles"]] == [1]
    for held in (client.list_memories, client.list_goals, client.list_plans):
        assert await held(scout.id) == []
    assert (await client.get_usage(scout.id))["runs"] == 1
    assert [day["runs"] for day in await client.list_usage_by_day(scout.id, days=7)] == [1]
    assert "Hello?" in str((await client.try_agent(scout.id, "Hello?"))["messages"])
    with pytest.raises(Conflict):
        await client.retry_delivery(message["id"], scout.id)
    assert (await client.cancel_run(run))["status"] == "canceled"
    with pytest.raises(Conflict):
        await client.cancel_run(run)


async def test_p5_a_service_tells_an_agent_something_once_though_the_answer_got_lost(
    world: World, proxy: Proxy
) -> None:
    scout, shop = await world.agent("Scout"), await world.person("Shop", type="service")
    async with MajlisClient(proxy.url, shop.token) as service:
        proxy.answers_to_lose = 1
        assert (await service.trigger_agent(scout.id, "Shop", None))["duplicate"]
        assert not (await service.trigger_agent(scout.id, "Shop", {"order": 7}, event_id="order-7"))["duplicate"]
        assert (await service.trigger_agent(scout.id, "Shop", {"order": 7}, event_id="order-7"))["duplicate"]


async def test_a_space_lives_from_its_making_to_its_deletion(client: MajlisClient) -> None:
    sara = await client.create_entity("human", "Sara")
    space = await client.create_space("Lobby", description="Everyone", triggers="mentioned")
    changed = await client.change_space(space["id"], name="Hall", orchestrator_id=None)
    assert (changed["name"], changed["description"], changed["triggers"]) == ("Hall", "Everyone", "mentioned")
    member = await client.add_member(space["id"], sara["id"], "viewer")
    assert (await client.list_members(space["id"]))[1] == member
    phase = await client.enter_phase(space["id"], "design", summary="All agreed.")
    assert await client.list_phases(space["id"]) == [phase]
    await client.remove_member(space["id"], sara["id"])
    assert len((await client.get_space(space["id"]))["members"]) == 1
    await client.delete_space(space["id"])
    assert await client.list_spaces() == []


async def test_messages_are_posted_paged_found_and_read(client: MajlisClient, world: World) -> None:
    sara = await world.person("Sara")
    space = await client.create_space("Lobby")
    await client.add_member(space["id"], sara.id)
    first = await client.post(space["id"], "hello world")
    second = await client.post(space["id"], "hello @Sara", reply_to=first["id"], mentions=[sara.id])
    assert (second["replyTo"], second["mentions"]) == (first["id"], [sara.id])
    assert await client.get_message(first["id"]) == first
    assert await client.get_why(first["id"]) == {"hops": []}
    page = await client.list_messages(space["id"], limit=1, before=second["id"])
    assert page == {"messages": [first], "total": 2, "hasMore": False}
    assert (await client.list_messages(space["id"], after=first["id"]))["messages"] == [second]
    assert (await client.search("hello wor"))["messages"] == [first]
    assert (await client.search("hello", space["id"], limit=1))["hasMore"]
    async with MajlisClient(world.base_url, sara.token) as hers:
        assert (await hers.list_spaces())[0]["unreadCount"] == 2
        assert await hers.mark_read(space["id"], first["id"]) == {"lastSeenMessageId": first["id"], "unreadCount": 1}


async def test_a_post_always_carries_a_client_id_and_the_callers_own_if_there_is_one(client: MajlisClient) -> None:
    space = (await client.create_space("Lobby"))["id"]
    made = await client.post(space, "hello")
    assert made["clientId"]
    own = await client.post(space, "hello", client_id="mine")
    again = await client.post(space, "something else", client_id="mine")
    assert own["clientId"] == "mine"
    assert again == own


async def test_health_needs_no_token(world: World) -> None:
    async with MajlisClient(world.base_url) as anonymous:
        assert await anonymous.health() == {
            "status": "ok",
            "version": __version__,
            "database": world.gateway.db.dialect,
            "bus": "in-process",
            "degraded": [],
        }
        with pytest.raises(Unauthenticated):
            await anonymous.me()


async def test_an_id_cannot_lead_a_call_astray(client: MajlisClient) -> None:
    space = (await client.create_space("Lobby"))["id"]
    for strange in ("", ".", "..", "../..", "a/b", "a?b=c", "a#b", "%2e%2e", "ü", "\udc80"):
        with pytest.raises(NotFound):
            await client.remove_member(space, strange)
    assert len((await client.get_space(space))["members"]) == 1


async def test_the_blocking_client_has_the_same_methods(world: World) -> None:
    def talk() -> list[str]:
        with SyncMajlisClient(world.base_url, world.owner.token) as client:
            space = client.create_space("Lobby")
            client.post(space["id"], "hello")
            with pytest.raises(Conflict):
                client.create_entity("human", "owner")
            return [client.me()["name"], client.list_messages(space["id"])["messages"][0]["text"]]

    assert await asyncio.to_thread(talk) == ["Owner", "hello"]


async def test_both_clients_have_exact_types(world: World, client: MajlisClient) -> None:
    """Checked by mypy; running it checks that the types are true."""
    assert_type(await client.me(), MeJson)
    assert_type(await client.list_spaces(), list[SpaceJson])
    space = await client.create_space("Lobby")
    assert_type(await client.post(space["id"], "hello"), MessageJson)
    assert_type(await client.delete_space(space["id"]), None)
    with SyncMajlisClient(world.base_url, world.owner.token) as blocking:
        assert_type(await asyncio.to_thread(blocking.list_spaces), list[SpaceJson])


def test_the_health_type_of_the_client_matches_the_api() -> None:
    assert get_type_hints(shapes.HealthJson).items() <= get_type_hints(health_routes.HealthJson).items()


async def test_e7_agents_spaces_and_the_gateway_are_paused_and_resumed(client: MajlisClient) -> None:
    agent, space = await client.create_agent("Designer", {"model": "demo"}), await client.create_space("Lobby")
    assert await client.pause_agent(agent["id"]) == {"paused": True}
    assert (await client.get_agent(agent["id"]))["paused"]
    assert await client.resume_agent(agent["id"]) == {"paused": False}
    assert await client.pause_space(space["id"]) == {"paused": True}
    assert (await client.get_space(space["id"]))["paused"]
    assert await client.resume_space(space["id"]) == {"paused": False}
    assert await client.pause_all() == await client.get_pause() == {"paused": True}
    assert await client.resume_all() == await client.get_pause() == {"paused": False}
