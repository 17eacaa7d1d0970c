"""A failed delivery is offered once more when a person asks for a retry."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.api.test_bad_input import UNKNOWN, assert_error
from tests.model_server import ModelServer, Reply, say
from tests.world import Person, World


async def deliveries(reader: Person, message: Any) -> Any:
    return await reader.ok("GET", f"/api/messages/{message['id']}/deliveries")


async def test_t12_a_failed_delivery_is_offered_again_and_answered(world: World) -> None:
    refusing = True

    def script(_: Any) -> Reply:
        return Reply(status=401, text="no key") if refusing else say("Here I am.")

    async with ModelServer(script) as server:
        model = {"provider": "openai", "name": "scripted", "baseUrl": server.base_url}
        scout, sara = await world.agent("Scout", model=model), await world.person("Sara")
        space = await world.owner.create_space("Project Alpha", scout, sara)
        async with sara.follow() as follower:
            message = await sara.say(space, "Are you there?")
            path = f"/api/messages/{message['id']}/deliveries/{scout.id}/retry"
            await follower.until("run.failed")
            [failed] = await deliveries(sara, message)
            assert failed["state"] == "failed"
            refusing = False
            [offered] = await sara.ok("POST", path)
            assert offered["attempts"] == 0
            await follower.until("run.completed")
        [done] = await deliveries(sara, message)
        assert done["state"] == "done"
        assert done["runId"] != failed["runId"]
        assert [each["text"] for each in (await sara.history(space))["messages"]][-1] == "Here I am."
        assert_error(await sara.post(path), 409, "not_failed")


async def test_only_members_who_can_write_can_retry_and_only_one_of_two_requests_succeeds(world: World) -> None:
    async with ModelServer(lambda _: Reply(status=401, text="no key")) as server:
        model = {"provider": "openai", "name": "scripted", "baseUrl": server.base_url}
        scout, sara, omar = await world.agent("Scout", model=model), await world.person("Sara"), await world.person("O")
        space = await world.owner.create_space("Project Alpha", scout)
        await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id, "role": "viewer"})
        async with sara.follow() as follower:
            message = await world.owner.say(space, "Are you there?")
            await follower.until("run.failed")
        path = f"/api/messages/{message['id']}/deliveries"
        assert_error(await sara.post(f"{path}/{scout.id}/retry"), 403, "viewer")
        assert_error(await omar.post(f"{path}/{scout.id}/retry"), 404, "unknown_message")
        assert_error(await world.owner.post(f"{path}/ent_{UNKNOWN}/retry"), 409, "not_failed")
        # No worker runs, so the second request finds it already offered.
        assert world.gateway.worker is not None
        await world.gateway.worker.stop()
        both = await asyncio.gather(*(world.owner.post(f"{path}/{scout.id}/retry") for _ in range(2)))
        assert sorted(answer.status_code for answer in both) == [202, 409]
