"""D1: the gateway is killed while clients send. A retry with the same clientId posts once."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conditions import until
from tests.examples.test_outside import OWNER, running
from tests.ports import free_port

# A process starts slowly on a busy machine.
START_SECONDS = 120
TEXTS = [f"Message {n}" for n in range(16)]


async def test_d1_a_kill_in_the_middle_of_a_send_and_a_retry_post_once(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    serve = ("-m", "majlis", "serve", "--port", str(port), "--data-dir", str(tmp_path / "data"))
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {OWNER}"}, timeout=30) as owner:
        async with running(*serve, MAJLIS_OWNER_TOKEN=OWNER, HOME=str(tmp_path)) as gateway:
            await until(lambda: _is_up(owner), START_SECONDS)
            space = (await owner.post("/api/spaces", json={"name": "Words"})).json()["id"]
            answered: set[str] = set()
            sending = asyncio.create_task(_send_all(url, space, answered))
            # The others are on their way.
            enough = random.randint(1, len(TEXTS) // 2)
            await until(lambda: len(answered) >= enough)
            gateway.kill()
            await gateway.wait()
            # To its end, whatever that is: a client that is canceled leaves connections open.
            await asyncio.gather(sending, return_exceptions=True)
        async with running(*serve, MAJLIS_OWNER_TOKEN=OWNER, HOME=str(tmp_path)):
            await until(lambda: _is_up(owner), START_SECONDS)
            again: set[str] = set()
            await _send_all(url, space, again)
            found = (await owner.get(f"/api/spaces/{space}/messages", params={"limit": 200})).json()["messages"]
    assert again == set(TEXTS)
    assert sorted(each["text"] for each in found) == sorted(TEXTS)


async def _send_all(url: str, space: str, answered: set[str]) -> None:
    headers = {"authorization": f"Bearer {OWNER}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), cache=None) as client,
    ):

        async def send(text: str) -> None:
            given: dict[str, Any] = {"spaceId": space, "text": text, "clientId": text.replace(" ", "-")}
            result = await client.call_tool("send_message", given)
            assert not result.is_error, result.content
            answered.add(text)

        await asyncio.gather(*map(send, TEXTS), return_exceptions=True)


async def _is_up(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/api/health")).is_success
    except httpx.TransportError:
        return False
