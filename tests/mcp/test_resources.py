"""D1: spaces as resources, and notifications of their changes."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp.client.subscriptions import Subscription
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from majlis.api.mcp import resources
from tests.conditions import until
from tests.mcp.conftest import Connect
from tests.world import World


async def test_d1_spaces_are_resources_of_their_members(
    world: World, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "_PAGE", 2)
    sara, ben = await world.person("Sara"), await world.person("Ben")
    mine = {f"majlis://space/{await sara.create_space(f'Space {n}', ben)}" for n in range(5)}
    hidden = await sara.create_space("Secret")
    [example, *_] = sorted(mine)
    await ben.say(example.rpartition("/")[2], "Hello")
    async with connect(ben) as session:
        client, listed, cursor = session.client, list[str](), None
        while True:
            page = await client.list_resources(cursor=cursor)
            listed += [each.uri for each in page.resources]
            if (cursor := page.next_cursor) is None:
                break
        assert sorted(listed) == sorted(mine)
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["majlis://space/{spaceId}", "majlis://file/{fileId}"]
        [content] = (await client.read_resource(example)).contents
        found = json.loads(content.text)  # type: ignore[union-attr]
        assert {member["name"] for member in found["members"]} == {"Sara", "Ben"}
        assert [message["text"] for message in found["messages"]] == ["Hello"]
        for wrong in (f"majlis://space/{hidden}", "majlis://space/x", "majlis://house/1", "file:///etc/passwd"):
            with pytest.raises(MCPError, match=r"access|resource"):
                await client.read_resource(wrong)


@pytest.mark.parametrize("age", ["2026-07-28"])
async def test_d1_a_subscriber_hears_of_the_spaces_it_asked_for(world: World, connect: Connect) -> None:
    sara, ben = await world.person("Sara"), await world.person("Ben")
    space, other = await sara.create_space("Kitchen", ben), await sara.create_space("Cellar", ben)
    secret = await sara.create_space("Secret")
    wanted = [f"majlis://space/{each}" for each in (space, secret)]
    made = await world.owner.ok("POST", f"/api/entities/{ben.id}/tokens", {})
    guest = await world.anybody(made["token"])
    async with (
        connect(guest) as session,
        session.client.listen(resource_subscriptions=wanted, resources_list_changed=True) as subscription,
    ):
        await sara.say(secret, "Ben must not know")
        await sara.say(other, "Not asked for")
        await sara.say(space, "Hello")
        assert await heard(subscription) == ResourceUpdated(wanted[0])
        await sara.create_space("Attic", ben)
        assert await heard(subscription) == ResourcesListChanged()
        await world.owner.ok("DELETE", f"/api/tokens/{made['id']}")
        with pytest.raises(StopAsyncIteration):
            await heard(subscription)
    await until(lambda: not world.gateway.hub.open_streams)


async def heard(subscription: Subscription) -> object:
    async with asyncio.timeout(60):
        return await anext(subscription)
