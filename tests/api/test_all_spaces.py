"""The list of all spaces for administrators: names and counts, no messages."""

from __future__ import annotations

from tests.api.test_bad_input import assert_error
from tests.api.test_query_counts import fewest
from tests.world import World


async def test_administrators_see_every_space_with_its_members_and_no_word_of_it(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    secret = await sara.create_space("Secret", omar)
    await sara.say(secret, "between us")
    for reader in (world.owner, await world.person("Ada", role="admin")):
        [listed] = [each for each in await reader.ok("GET", "/api/spaces/all") if each["id"] == secret]
        members = [(member["name"], member["role"]) for member in listed.pop("members")]
        assert members == [("Sara", "admin"), ("Omar", "member")]
        created = listed.pop("createdAt")
        assert created.endswith("Z")
        expected = {"id": secret, "name": "Secret", "description": "", "triggers": "everyone", "messageCount": 1}
        expected["paused"] = expected["direct"] = False
        assert listed == expected
        # A7: seeing a space in the list does not make a member.
        assert_error(await reader.get(f"/api/spaces/{secret}"), 404, "unknown_space")


async def test_the_list_is_not_for_others_and_comes_in_pages(world: World) -> None:
    sara = await world.person("Sara")
    spaces = [await sara.create_space(f"Room {n}") for n in range(5)]
    assert_error(await sara.get("/api/spaces/all"), 403, "not_allowed")
    gone = spaces.pop(2)
    await sara.ok("DELETE", f"/api/spaces/{gone}")
    first = await world.owner.ok("GET", "/api/spaces/all", limit=3)
    rest = await world.owner.ok("GET", "/api/spaces/all", after=first[-1]["id"])
    assert [each["id"] for each in [*first, *rest] if each["name"].startswith("Room")] == spaces


async def test_it_is_three_queries_however_many_spaces_there_are(world: World) -> None:
    sara = await world.person("Sara")
    for n in range(8):
        await sara.create_space(f"Room {n}", world.owner)
    await world.owner.ok("GET", "/api/spaces/all")
    found, statements = await fewest(world, lambda: world.owner.ok("GET", "/api/spaces/all"))
    assert len(found) >= 8
    # The token, the spaces, their members.
    assert len(statements) == 3, statements
