"""A program that works for an outside agent, as it sees the gateway: HTTP requests with the agent's token."""

from __future__ import annotations

from typing import Any

import httpx
import sqlalchemy as sa

from majlis.store.tables import runs
from tests.runs.house import House
from tests.world import Person

LEASE_SECONDS = 60


class Program:
    def __init__(self, agent: Person) -> None:
        self.agent = agent
        self.id = agent.id

    async def take(self, wait: float = 20, **more: Any) -> Any:
        """The next event."""
        [event] = await self.take_all(wait, **more)
        return event

    async def take_all(self, wait: float = 0, **more: Any) -> list[Any]:
        body = {"waitSeconds": wait, **more}
        return list((await self.agent.ok("POST", "/api/inbox/take", body))["events"])

    async def try_renew(self, event: Any) -> httpx.Response:
        return await self.agent.post(f"/api/inbox/{event['id']}/renew", {"lease": event["lease"]})

    async def try_settle(self, event: Any, state: str = "done", **more: Any) -> httpx.Response:
        return await self.agent.post(
            f"/api/inbox/{event['id']}/settle", {"lease": event["lease"], "state": state, **more}
        )

    async def settle(self, event: Any, state: str = "done", **more: Any) -> Any:
        response = await self.try_settle(event, state, **more)
        assert response.status_code == 200, response.text
        return response.json()

    async def try_send(self, event: Any, space: str, text: str, **more: Any) -> httpx.Response:
        held = {"id": event["id"], "lease": event["lease"]}
        return await self.agent.post(f"/api/spaces/{space}/messages", {"text": text, "inbox": held, **more})

    async def send(self, event: Any, space: str, text: str, **more: Any) -> Any:
        response = await self.try_send(event, space, text, **more)
        assert response.is_success, response.text
        return response.json()


async def outside(house: House, name: str = "Scout", **config: Any) -> Program:
    return Program(await house.world.agent(name, mind="outside", **config))


def refused(response: httpx.Response, status: int, code: str) -> bool:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text
    return True


async def attempts(house: House, event: Any) -> int:
    """How many tries its run has had."""
    statement = sa.select(runs.c.attempts).where(runs.c.id == event["runId"])
    return int(await house.world.gateway.db.read(lambda tx: tx.execute(statement).scalar_one()))
