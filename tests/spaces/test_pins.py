"""Pinned messages: who pins, limits, deletion, and what agents see."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.spaces.pins import MAX_PINS
from majlis.store.tables import spaces
from tests.api.test_bad_input import assert_error
from tests.world import World


async def test_members_pin_and_unpin_and_everyone_in_the_space_sees_it(world: World) -> None:
    sara, eve = await world.person("Sara"), await world.person("Eve")
    space = await world.owner.create_space("Plans", sara)
    first, second = await sara.say(space, "The deadline is Friday."), await sara.say(space, "Net, not gross.")
    assert first["pinned"] is False
    pinned = await world.owner.ok("PUT", f"/api/messages/{first['id']}/pin")
    assert (pinned["pinned"], pinned["revision"]) == (True, 1)
    assert await sara.ok("PUT", f"/api/messages/{first['id']}/pin") == pinned
    assert await sara.ok("GET", f"/api/messages/{first['id']}") == pinned
    await sara.ok("PUT", f"/api/messages/{second['id']}/pin")
    listed = (await sara.ok("GET", f"/api/spaces/{space}/pins"))["pins"]
    assert [(each["id"], each["pinnedBy"]) for each in listed] == [
        (second["id"], sara.id),
        (first["id"], world.owner.id),
    ]
    assert_error(await eve.get(f"/api/spaces/{space}/pins"), 404, "unknown_space")
    assert_error(await eve.delete(f"/api/messages/{first['id']}/pin"), 404, "unknown_message")
    left = await sara.ok("DELETE", f"/api/messages/{first['id']}/pin")
    assert (left["pinned"], left["revision"]) == (False, 2)
    assert await sara.ok("DELETE", f"/api/messages/{first['id']}/pin") == left
    assert len((await sara.ok("GET", f"/api/spaces/{space}/pins"))["pins"]) == 1


async def test_viewers_cannot_pin_and_see_the_pins(world: World) -> None:
    guest = await world.person("Guest")
    space = await world.owner.create_space("Plans")
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": guest.id, "role": "viewer"})
    message = await world.owner.say(space, "The deadline is Friday.")
    await world.owner.ok("PUT", f"/api/messages/{message['id']}/pin")
    assert_error(await guest.delete(f"/api/messages/{message['id']}/pin"), 403, "viewer")
    assert [each["id"] for each in (await guest.ok("GET", f"/api/spaces/{space}/pins"))["pins"]] == [message["id"]]


async def test_a_space_has_a_limited_number_of_pins_and_a_deletion_frees_one(world: World) -> None:
    space = await world.owner.create_space("Plans")
    said = [await world.owner.say(space, f"m{n}") for n in range(2)]
    await world.owner.ok("PUT", f"/api/messages/{said[0]['id']}/pin")
    full = spaces.update().values(pins=MAX_PINS)
    await world.gateway.db.write(lambda tx: tx.execute(full).rowcount)
    response = await world.owner.http.put(f"/api/messages/{said[1]['id']}/pin")
    assert_error(response, 409, "too_many_pins")
    gone = await world.owner.ok("DELETE", f"/api/messages/{said[0]['id']}")
    assert (gone["pinned"], gone["text"]) == (False, "")
    assert (await world.owner.ok("PUT", f"/api/messages/{said[1]['id']}/pin"))["pinned"] is True
    count = sa.select(spaces.c.pins).where(spaces.c.id == space)
    assert await world.gateway.db.read(lambda tx: tx.execute(count).scalar_one()) == MAX_PINS
    assert_error(await world.owner.http.put(f"/api/messages/{said[0]['id']}/pin"), 409, "message_deleted")
