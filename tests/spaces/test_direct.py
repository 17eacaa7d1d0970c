"""L8: direct conversations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from majlis.client import ClientState, MajlisClient
from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.conditions import PATIENCE_SECONDS
from tests.model_server import say, sequence, silent
from tests.runs.house import House, open_house
from tests.world import World


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


async def test_l8_the_same_pair_gets_the_same_space_and_each_sees_the_name_of_the_other(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    first = await sara.post("/api/direct", {"entityId": omar.id})
    assert first.status_code == 201
    again = await omar.post("/api/direct", {"entityId": sara.id})
    assert again.status_code == 200
    hers, his = first.json(), again.json()
    assert (hers["id"], hers["direct"], hers["name"]) == (his["id"], True, "Omar")
    assert (his["direct"], his["name"]) == (True, "Sara")
    assert {(member["id"], member["role"]) for member in hers["members"]} == {(sara.id, "member"), (omar.id, "member")}
    assert [(space["name"], space["direct"]) for space in await omar.ok("GET", "/api/spaces")] == [("Sara", True)]
    await world.owner.ok("PATCH", f"/api/entities/{sara.id}", {"name": "Sarah"})
    assert (await omar.space(hers["id"]))["name"] == "Sarah"
    outline = await world.owner.ok("GET", "/api/spaces/all")
    assert {space["name"] for space in outline if space["direct"]} <= {"Sarah and Omar", "Omar and Sarah"}
    other = await world.person("Eve")
    assert (await other.get(f"/api/spaces/{hers['id']}")).status_code == 404


async def test_l8_callers_at_the_same_time_get_one_space(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    asked = [(sara, omar), (omar, sara)] * 5
    answers = await asyncio.gather(*(one.post("/api/direct", {"entityId": other.id}) for one, other in asked))
    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(answers[0].json()["members"]) == 2


async def test_l8_members_cannot_change_and_the_agent_stays_addressed(world: World) -> None:
    scout, sara = await world.agent("Scout"), await world.person("Sara")
    owner = world.owner
    space = await owner.ok("POST", "/api/direct", {"entityId": scout.id})
    at = f"/api/spaces/{space['id']}"
    assert space["role"] == "admin"
    assert_error(await owner.post(f"{at}/members", {"entityId": sara.id}), 409, "direct")
    assert_error(await owner.post(f"{at}/members", {"entityId": scout.id, "role": "viewer"}), 409, "direct")
    assert_error(await owner.delete(f"{at}/members/{owner.id}"), 409, "direct")
    assert_error(await owner.delete(f"{at}/members/{scout.id}"), 409, "direct")
    for change in ({"name": "Ours"}, {"triggers": "mentioned"}, {"orchestratorId": scout.id}):
        assert_error(await owner.patch(at, change), 409, "direct")
    assert (await owner.ok("PATCH", at, {"description": "Notes"}))["description"] == "Notes"
    assert len(await owner.ok("GET", f"{at}/members")) == 2


async def test_l8_a_deleted_conversation_can_be_opened_again(world: World) -> None:
    scout = await world.agent("Scout")
    old = await world.owner.ok("POST", "/api/direct", {"entityId": scout.id})
    await world.owner.ok("DELETE", f"/api/spaces/{old['id']}")
    new = await world.owner.post("/api/direct", {"entityId": scout.id})
    assert new.status_code == 201
    assert new.json()["id"] != old["id"]


async def test_l8_the_words_stay_when_the_other_is_deleted(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.ok("POST", "/api/direct", {"entityId": sara.id})
    await sara.say(space["id"], "hello")
    await world.owner.ok("DELETE", f"/api/entities/{sara.id}")
    assert [each["text"] for each in (await world.owner.history(space["id"]))["messages"]] == ["hello"]
    assert "Sara" in (await world.owner.space(space["id"]))["name"]
    assert_error(await world.owner.post("/api/direct", {"entityId": sara.id}), 404, "unknown_entity")


async def test_l8_only_people_open_one_with_people_and_agents(world: World) -> None:
    scout, sara = await world.agent("Scout"), await world.person("Sara")
    service = await world.owner.ok("POST", "/api/entities", {"type": "service", "name": "Build"})
    assert_error(await scout.post("/api/direct", {"entityId": sara.id}), 403, "not_a_person")
    assert_error(await sara.post("/api/direct", {"entityId": sara.id}), 422, "direct_with_self")
    assert_error(await sara.post("/api/direct", {"entityId": service["id"]}), 422, "direct_with_service")
    assert_error(await sara.post("/api/direct", {"entityId": "ent_0000000000000000"}), 404, "unknown_entity")
    closed = await world.owner.ok("POST", "/api/agents", {"name": "Vault", "config": {"addableBy": "admins"}})
    assert_error(await sara.post("/api/direct", {"entityId": closed["id"]}), 403, "not_addable")
    assert await sara.ok("GET", "/api/spaces") == []
    await world.owner.ok("POST", "/api/direct", {"entityId": closed["id"]})


async def test_l8_a_client_state_follows_the_name_of_the_other(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    async with MajlisClient(world.base_url, sara.token) as client, aclosing(client.follow()) as stream:
        assert (await anext(stream)).type == "connected"
        space = await client.open_direct(omar.id)
        state = ClientState(sara.id)
        state.load(await client.list_spaces())
        await world.owner.ok("PATCH", f"/api/entities/{omar.id}", {"name": "Umar"})
        await omar.say(space["id"], "hello")
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for event in stream:
                state.apply(event)
                if event.type == "space.message":
                    break
        assert state.spaces[space["id"]].facts["name"] == "Umar"
        fresh = ClientState(sara.id)
        fresh.load(await client.list_spaces())
        assert state == fresh


async def test_l8_e10_an_agent_answers_every_message_and_is_asked_again_if_it_only_wrote_text(house: House) -> None:
    ada = await house.agent("Ada")
    space = (await house.owner.ok("POST", "/api/direct", {"entityId": ada.id}))["id"]
    house.model.script = sequence(silent("Four."), say("Four."), silent())
    await house.owner.say(space, "What is two plus two?")
    await house.until_idle()
    assert [text for _, text in await house.texts(space)] == ["What is two plus two?", "Four."]
