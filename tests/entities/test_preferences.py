"""What people choose in the web app follows them to their other browsers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.preferences import MAX_SPACES
from majlis.store.tables import preferences
from tests.api.test_bad_input import assert_error
from tests.world import World

PATH = "/api/me/preferences"
SPACE = "spc_01jq3v8x2k7m9a0b"
NOTHING = {
    "revision": 0,
    "theme": "system",
    "language": None,
    "timeZone": None,
    "order": "newest",
    "pinned": [],
    "muted": [],
    "archived": [],
    "notify": {},
    "sound": False,
    "quiet": None,
}


async def test_a_change_keeps_the_other_fields_and_reaches_the_open_apps_of_this_person_only(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    assert await sara.ok("GET", PATH) == NOTHING
    async with sara.follow() as mine, omar.follow() as others:
        await mine.next()
        await others.next()
        first = await sara.ok("PATCH", PATH, {"theme": "dark", "notify": {SPACE: "all"}})
        assert first == {**NOTHING, "revision": 1, "theme": "dark", "notify": {SPACE: "all"}}
        assert (await mine.until("preferences.changed")).data["preferences"] == first
        quiet = {"from": "22:00", "to": "07:00"}
        second = await sara.ok("PATCH", PATH, {"quiet": quiet, "notify": {}, "timeZone": "Asia/Baghdad"})
        assert second == {**NOTHING, "revision": 2, "theme": "dark", "quiet": quiet, "timeZone": "Asia/Baghdad"}
        assert (await mine.until("preferences.changed")).data["preferences"] == second
        # What changes nothing tells nothing.
        assert await sara.ok("PATCH", PATH, {"theme": "dark"}) == second
        back = await sara.ok("PATCH", PATH, {"quiet": None})
        assert (await mine.until("preferences.changed")).data["preferences"] == back
        assert back["revision"] == 3
        await omar.ok("PATCH", PATH, {"sound": True})
        theirs = await others.until("preferences.changed")
        assert theirs.data["preferences"] == {**NOTHING, "revision": 1, "sound": True}
        assert [event.type for event in others.seen].count("preferences.changed") == 1
    assert await sara.ok("GET", PATH) == back


async def test_invalid_values_and_too_many_spaces_are_refused(world: World) -> None:
    spaces = [f"spc_{n:016}" for n in range(MAX_SPACES + 1)]
    refused: list[Any] = [
        {"theme": "pink"},
        {"language": "xx"},
        {"timeZone": "Mars/Olympus"},
        {"pinned": ["ent_01jq3v8x2k7m9a0b"]},
        {"pinned": spaces},
        {"notify": dict.fromkeys(spaces, "all")},
        {"notify": {SPACE: "some"}},
        {"quiet": {"from": "24:00", "to": "07:00"}},
        {"sound": 1},
        {"unknown": True},
        {"revision": 7},
        {"theme": None},
        [],
    ]
    for body in refused:
        assert_error(await world.owner.patch(PATH, body), 422, "invalid_request")
    assert await world.owner.ok("GET", PATH) == NOTHING
    saved = await world.owner.ok("PATCH", PATH, {"pinned": spaces[1:]})
    assert len(saved["pinned"]) == MAX_SPACES


async def test_only_people_have_preferences_and_a_token_needs_its_scopes(world: World) -> None:
    for machine in (await world.agent("Ada"), await world.person("Shop", type="service")):
        assert_error(await machine.get(PATH), 403, "not_allowed")
        assert_error(await machine.patch(PATH, {"sound": True}), 403, "not_allowed")
    reader = await world.with_token(world.owner.id, "Reader", scopes=["read"])
    assert await reader.ok("GET", PATH) == NOTHING
    assert_error(await reader.patch(PATH, {"sound": True}), 403, "missing_scope")


async def test_preferences_of_a_deleted_person_are_deleted(world: World) -> None:
    sara = await world.person("Sara")
    await sara.ok("PATCH", PATH, {"sound": True})
    await world.owner.ok("DELETE", f"/api/entities/{sara.id}")
    assert await world.gateway.db.read(lambda tx: tx.all(sa.select(preferences))) == []


async def test_damaged_fields_have_their_defaults(world: World) -> None:
    """An import from another version may bring them."""
    await world.owner.ok("PATCH", PATH, {"sound": True})
    damaged = {"theme": "pink", "sound": True, "later": 1, "notify": {SPACE: "some"}, "order": "name"}
    await world.gateway.db.write(lambda tx: tx.execute(preferences.update().values(value=damaged)).rowcount)
    assert await world.owner.ok("GET", PATH) == {**NOTHING, "revision": 1, "sound": True, "order": "name"}
    await world.gateway.db.write(lambda tx: tx.execute(preferences.update().values(value=[1])).rowcount)
    assert await world.owner.ok("GET", PATH) == {**NOTHING, "revision": 1}
