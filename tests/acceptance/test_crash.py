"""`kill -9` after every acknowledged post, and 150 kills in all: no message is lost or stored twice.

MAJLIS_TEST_THOROUGH=1 makes it 600.
"""

from __future__ import annotations

import asyncio
import os
import random

import httpx

from tests.acceptance.processes import OWNER_TOKEN
from tests.acceptance.workers import WorkerProcess, Workers

POSTS = 400 if os.environ.get("MAJLIS_TEST_THOROUGH") else 100


class Server:
    """Processes on one database, one after the other."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._process: WorkerProcess | None = None

    async def start(self) -> httpx.AsyncClient:
        self._process = await self._workers.start()
        return httpx.AsyncClient(
            verify=False,
            base_url=self._process.base_url,
            headers={"Authorization": f"Bearer {OWNER_TOKEN}"},
            timeout=30,
        )

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()


async def test_no_acknowledged_message_is_lost_and_none_doubled_by_retries(workers: Workers) -> None:
    """The server is killed after every acknowledgement. Before every second post it is also killed during the request,
    so the client cannot know whether the message was stored and sends it again."""
    chance = random.Random(5)
    server = Server(workers)
    http = await server.start()
    space = (await http.post("/api/spaces", json={"name": "Crash"})).json()["id"]
    path = f"/api/spaces/{space}/messages"
    acknowledged: dict[str, str] = {}
    for n in range(POSTS):
        body = {"text": f"post {n}", "clientId": f"c{n}"}
        if n % 2:
            posting = asyncio.create_task(http.post(path, json=body))
            for _ in range(chance.randrange(40)):
                await asyncio.sleep(0)
            server.kill()
            answers = await asyncio.gather(posting, return_exceptions=True)
            acknowledged |= {f"c{n}": a.json()["id"] for a in answers if isinstance(a, httpx.Response)}
            await http.aclose()
            http = await server.start()
        answer = await http.post(path, json=body)
        server.kill()
        assert answer.is_success
        assert answer.json()["id"] == acknowledged.setdefault(f"c{n}", answer.json()["id"])
        await http.aclose()
        http = await server.start()
        again = await http.post(path, json=body)
        assert (again.status_code, again.json()["id"]) == (200, acknowledged[f"c{n}"])

    stored: list[dict[str, object]] = []
    while True:
        cursor = f"&before={stored[0]['id']}" if stored else ""
        page = (await http.get(f"{path}?limit=150{cursor}")).json()
        stored = page["messages"] + stored
        if not page["hasMore"]:
            break
    assert [message["seq"] for message in stored] == list(range(1, POSTS + 1))
    assert {message["clientId"]: message["id"] for message in stored} == acknowledged
    assert [message["text"] for message in stored] == [f"post {n}" for n in range(POSTS)]
    await http.aclose()
    server.kill()
