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
