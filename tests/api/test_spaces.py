"""Spaces and members over HTTP."""

from __future__ import annotations

from tests.world import World


async def test_the_creator_of_a_space_is_its_first_member_and_admin(world: World) -> None:
    space = await world.owner.ok("POST", "/api/spaces", {"name": "Lobby"})
    assert [(m["id"], m["role"]) for m in space["members"]] == [(world.owner.id, "admin")]
    assert space["unreadCount"] == 0
    assert space["lastMessage"] is None
    assert space["lastSeenMessageId"] is None


async def test_a_message_reaches_the_other_member_live(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    async with sara.follow(space) as events:
        assert (await events.next()).type == "connected"
        said = await world.owner.say(space, "hello")
        assert (await events.until("space.message")).data["message"] == said


async def test_the_last_admin_may_leave_and_a_person_becomes_one_before_a_machine(world: World) -> None:
    """This used to be refused, so a space with only agents needed an agent as admin first."""
    sara, scout, eve = await world.person("Sara"), await world.agent("Scout"), await world.person("Eve")
    space = await world.owner.create_space("Lobby", scout, sara)
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": eve.id, "role": "viewer"})
    for leaving, left in (
        (world.owner, {"Scout": "member", "Sara": "admin", "Eve": "viewer"}),
        (sara, {"Scout": "member", "Eve": "admin"}),
        (eve, {"Scout": "admin"}),
    ):
        async with scout.follow(space) as stream:
            await stream.next()
            await leaving.ok("DELETE", f"/api/spaces/{space}/members/{leaving.id}")
            heir = next(name for name, role in left.items() if role == "admin")
            told = await stream.until("space.member.updated")
            assert (told.data["member"]["name"], told.data["member"]["role"]) == (heir, "admin")
        members = await scout.ok("GET", f"/api/spaces/{space}/members")
        assert {member["name"]: member["role"] for member in members} == left
    await scout.ok("DELETE", f"/api/spaces/{space}/members/{scout.id}")


async def test_a_space_keeps_an_admin_when_its_last_one_is_deleted(world: World) -> None:
    sara, eve = await world.person("Sara"), await world.person("Eve")
    space = await sara.create_space("Hers", eve)
    await world.owner.ok("DELETE", f"/api/entities/{sara.id}")
    assert [member["role"] for member in await eve.ok("GET", f"/api/spaces/{space}/members")] == ["admin"]
