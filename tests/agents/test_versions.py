"""Earlier configs of an agent are kept, so that a change can be undone."""

from __future__ import annotations

from tests.api.test_bad_input import assert_error
from tests.world import World


async def test_each_change_is_a_version_with_its_author_and_an_earlier_one_can_be_restored(world: World) -> None:
    scout, sara = await world.agent("Scout", instructions="first"), await world.person("Sara")
    path = f"/api/agents/{scout.id}"
    [only] = (await world.owner.ok("GET", f"{path}/versions"))["versions"]
    assert (only["version"], only["config"]["instructions"], only["changedBy"]) == (1, "first", None)
    await world.owner.ok("PATCH", path, {"config": {"instructions": "second"}})
    await world.owner.ok("PATCH", path, {"name": "Scout II"})
    versions = (await world.owner.ok("GET", f"{path}/versions"))["versions"]
    assert [(each["version"], each["config"]["instructions"]) for each in versions] == [(2, "second"), (1, "first")]
    assert [each["changedBy"] and each["changedBy"]["id"] for each in versions] == [world.owner.id, None]
    restored = await world.owner.ok("PATCH", path, {"config": versions[1]["config"]})
    assert (restored["version"], restored["config"]["instructions"]) == (3, "first")
    assert_error(await sara.get(f"{path}/versions"), 403, "not_allowed")


async def test_the_last_fifty_versions_are_kept(world: World) -> None:
    scout = await world.agent("Scout")
    for n in range(52):
        await world.owner.ok("PATCH", f"/api/agents/{scout.id}", {"config": {"instructions": str(n)}})
    versions = (await world.owner.ok("GET", f"/api/agents/{scout.id}/versions"))["versions"]
    assert [each["version"] for each in versions] == list(range(53, 3, -1))
