"""`kill -9` right after every acknowledged post, two hundred times: nothing lost, nothing doubled."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.acceptance.processes import OWNER_TOKEN

POSTS = 200


class Nursery:
    """Servers on one database, one after the other; see nursery.py."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._pid = 0

    async def start_server(self) -> httpx.AsyncClient:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"start\n")
        pid, port = (await self._process.stdout.readline()).split()
        self._pid = int(pid)
        return httpx.AsyncClient(
            verify=False,
            base_url=f"http://127.0.0.1:{int(port)}",
            headers={"Authorization": f"Bearer {OWNER_TOKEN}"},
            timeout=30,
        )

    def kill_server(self) -> None:
        os.kill(self._pid, signal.SIGKILL)


@pytest.fixture
async def nursery(database_url: str, tmp_path: Path) -> AsyncIterator[Nursery]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MAJLIS_")},
        "MAJLIS_DATABASE_URL": database_url,
        "MAJLIS_DATA_DIR": str(tmp_path),
        "MAJLIS_OWNER_TOKEN": OWNER_TOKEN,
        "MAJLIS_PORT": "0",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.acceptance.nursery",
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    nursery = Nursery(process)
    yield nursery
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


async def test_no_acknowledged_message_is_lost_and_none_doubled_by_retries(nursery: Nursery) -> None:
    """The server is killed right after every acknowledgement, and before every second post also while it is under
    way, so that the client cannot know whether it was stored and sends it again."""
    chance = random.Random(5)
    http = await nursery.start_server()
    space = (await http.post("/api/spaces", json={"name": "Crash"})).json()["id"]
    path = f"/api/spaces/{space}/messages"
    acknowledged: dict[str, str] = {}
    for n in range(POSTS):
        body = {"text": f"post {n}", "clientId": f"c{n}"}
        if n % 2:
            posting = asyncio.create_task(http.post(path, json=body))
            for _ in range(chance.randrange(40)):
                await asyncio.sleep(0)
            nursery.kill_server()
            answers = await asyncio.gather(posting, return_exceptions=True)
            acknowledged |= {f"c{n}": a.json()["id"] for a in answers if isinstance(a, httpx.Response)}
            await http.aclose()
            http = await nursery.start_server()
        answer = await http.post(path, json=body)
        nursery.kill_server()
        assert answer.is_success
        assert answer.json()["id"] == acknowledged.setdefault(f"c{n}", answer.json()["id"])
        await http.aclose()
        http = await nursery.start_server()
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
    nursery.kill_server()
