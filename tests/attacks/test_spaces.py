"""Putting people and agents into spaces against their will, and keeping a space from the owner (G2)."""

from __future__ import annotations

import pytest

from majlis import clock
from majlis.spaces.addable import DAY_MILLIS, SPACES_A_DAY
from tests.api.test_bad_input import assert_error
from tests.world import World


@pytest.mark.usefixtures("standing_clock")
async def test_g2_a_member_adds_people_to_twenty_spaces_a_day(world: World) -> None:
    """One member put the owner into 150 spaces."""
    eve, sara = await world.person("Eve"), await world.person("Sara")
    spaces = [await eve.create_space(f"Trap {n}") for n in range(SPACES_A_DAY + 1)]
    add = {"entityId": world.owner.id}
    for space in spaces[:SPACES_A_DAY]:
        await eve.ok("POST", f"/api/spaces/{space}/members", add)
        await eve.ok("DELETE", f"/api/spaces/{space}/members/{world.owner.id}")
    last = f"/api/spaces/{spaces[-1]}/members"
    assert_error(await eve.post(last, add), 429, "too_many_additions")
    await eve.ok("POST", f"/api/spaces/{spaces[0]}/members", {"entityId": sara.id})
    clock.advance(DAY_MILLIS)
    await eve.ok("POST", last, add)


async def test_a_blocked_member_cannot_add_a_person_who_left(world: World) -> None:
    eve, sara = await world.person("Eve"), await world.person("Sara")
    space = await eve.create_space("Again", sara)
    await sara.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
    await sara.ok("PUT", f"/api/blocks/{eve.id}")
    await sara.ok("PUT", f"/api/blocks/{eve.id}")
    assert [each["name"] for each in await sara.ok("GET", "/api/blocks")] == ["Eve"]
    assert_error(await eve.post(f"/api/spaces/{space}/members", {"entityId": sara.id}), 403, "blocked")
    await sara.ok("DELETE", f"/api/blocks/{eve.id}")
    await eve.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    assert_error(await sara.http.put(f"/api/blocks/{sara.id}"), 422, "own_block")


async def test_an_agent_is_added_only_by_those_it_allows(world: World) -> None:
    """A member added an agent that also sits in a private space to a space of her own, and had it read aloud."""
    eve, sara = await world.person("Eve"), await world.person("Sara")
    free, closed = await world.agent("Free"), await world.agent("Closed", addableBy="admins")
    named = await world.agent("Named", addableBy=[sara.id])
    wandering = await world.agent("Wandering", mind="consciousness")
    for person, refused in ((eve, [closed, named, wandering]), (sara, [closed, wandering])):
        space = await person.create_space("Mine")
        for agent in (free, closed, named, wandering):
            answer = await person.post(f"/api/spaces/{space}/members", {"entityId": agent.id})
            assert answer.status_code == (403 if agent in refused else 201)
        body = {"name": "Ours", "triggers": "orchestrated", "orchestratorId": closed.id}
        assert_error(await person.post("/api/spaces", body), 403, "not_addable")
    await world.owner.create_space("Everyone", free, closed, named, wandering)


async def test_the_owner_removes_an_agent_from_a_space_and_deletes_it_without_reading_it(world: World) -> None:
    """The owner could delete neither the space nor what agents did there."""
    eve, agent = await world.person("Eve"), await world.agent("Bot")
    space = await eve.create_space("Hidden", agent)
    path = f"/api/spaces/{space}"
    assert space in [each["id"] for each in await world.owner.ok("GET", "/api/spaces/all")]
    assert (await world.owner.get(f"{path}/messages")).status_code == 404
    assert (await world.owner.delete(f"{path}/members/{eve.id}")).status_code == 404
    await world.owner.ok("DELETE", f"{path}/members/{agent.id}")
    assert [each["name"] for each in await eve.ok("GET", f"{path}/members")] == ["Eve"]
    other = await world.person("Mallory")
    assert (await other.delete(path)).status_code == 404
    await world.owner.ok("DELETE", path)
    assert (await eve.get(path)).status_code == 404
    actions = [each["action"] for each in (await world.owner.ok("GET", "/api/audit", action="space"))["entries"]]
    assert actions == ["space.deleted", "space.agent_removed"]
