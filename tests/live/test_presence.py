"""Presence and typing: told to those who share a space, and to streams that ask for it only."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.live import presence
from majlis.settings import Settings
from tests.conditions import until
from tests.follower import Follower
from tests.world import Person, World, serve_world


def follow(person: Person) -> Follower:
    return Follower(person.http, "/api/events?presence=true")


async def online_at_first(stream: Follower) -> Any:
    return (await stream.next()).data["online"]


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_GRACE_SECONDS", 0.0)


async def test_people_who_share_a_space_see_each_other_come_and_go(world: World) -> None:
    lina, omar = await world.person("Lina"), await world.person("Omar")
    await world.owner.create_space("Shared", lina, omar)
    async with follow(lina) as hers:
        assert await online_at_first(hers) == []
        async with follow(omar) as his:
            await hers.until("presence", online=[omar.id], offline=[])
            assert await online_at_first(his) == [lina.id]
            # A second tab changes nothing when it closes.
            async with follow(omar) as second:
                await second.next()
        await hers.until("presence", online=[], offline=[omar.id])
        assert [event.data["online"] for event in hers.seen if event.type == "presence"] == [[omar.id], []]


async def test_strangers_learn_nothing_until_they_share_a_space(world: World) -> None:
    lina, sami = await world.person("Lina"), await world.person("Sami")
    space = await world.owner.create_space("Hers", lina)
    async with follow(lina) as hers, follow(sami) as his:
        assert await online_at_first(his) == []
        await hers.next()
        await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sami.id})
        await his.until("presence", online=[lina.id])
        await hers.until("presence", online=[sami.id])
        assert [event.data["online"] for event in his.seen if event.type == "presence"] == [[lina.id]]


async def test_administrators_see_when_a_person_last_had_the_app_open(world: World) -> None:
    lina = await world.person("Lina")
    path = f"/api/entities/{lina.id}"
    assert (await world.owner.ok("GET", path))["lastSeenAt"] is None
    async with follow(lina) as hers:
        await hers.next()
        await until(lambda: _seen(world, path))
    assert "lastSeenAt" not in await lina.ok("GET", path)
    assert all("lastSeenAt" not in each for each in await lina.ok("GET", "/api/entities"))


async def _seen(world: World, path: str) -> bool:
    return (await world.owner.ok("GET", path))["lastSeenAt"] is not None


async def test_programs_are_neither_online_nor_told(world: World) -> None:
    lina, omar = await world.person("Lina"), await world.person("Omar")
    agent = await world.agent("Ada", mind="outside")
    space = await world.owner.create_space("Shared", lina, omar, agent)
    async with follow(lina) as hers, omar.follow() as plain, follow(agent) as its:
        assert "online" not in (await plain.next()).data
        assert "online" not in (await its.next()).data
        await hers.next()
        assert (await lina.post(f"/api/spaces/{space}/typing")).status_code == 204
        await hers.until("space.typing", spaceId=space, entityId=lina.id)
        await lina.say(space, "done")
        for stream in (plain, its, hers):
            await stream.until_message("done")
            assert stream is hers or not [each for each in stream.seen if each.type in ("presence", "space.typing")]
        assert not [each for each in hers.seen if each.type == "presence"]


async def test_typing_is_told_once_in_a_while_and_only_by_members_who_may_write(world: World) -> None:
    lina, omar, sami = [await world.person(name) for name in ("Lina", "Omar", "Sami")]
    space = await world.owner.create_space("Shared", lina)
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": omar.id, "role": "viewer"})
    async with follow(omar) as his:
        await his.next()
        for _ in range(5):
            assert (await lina.post(f"/api/spaces/{space}/typing")).status_code == 204
        assert (await omar.post(f"/api/spaces/{space}/typing")).status_code == 403
        assert (await sami.post(f"/api/spaces/{space}/typing")).status_code == 404
        await lina.say(space, "done")
        await his.until_message("done")
        told = [event.data for event in his.seen if event.type == "space.typing"]
        assert told == [{"type": "space.typing", "spaceId": space, "entityId": lina.id}]


@pytest.mark.parametrize("engine", ["postgresql"])
async def test_presence_reaches_other_nodes_and_ends_with_a_node_that_has_gone_silent(
    settings: Settings, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings.model_copy(update={"bus_url": nats_url})
    async with serve_world(settings) as one, serve_world(settings) as two:
        lina, omar = await one.person("Lina"), await one.person("Omar")
        await one.owner.create_space("Shared", lina, omar)
        elsewhere = await two.anybody(omar.token)
        async with follow(lina) as hers, follow(elsewhere) as his:
            await hers.until("presence", online=[omar.id])
            await his.next()
            # As if the other node had crashed.
            monkeypatch.setattr(two.gateway.hub.presence, "_tell", lambda _: None)
            monkeypatch.setattr(presence, "_SILENT_SECONDS", 0.0)
            await hers.until("presence", offline=[omar.id])
