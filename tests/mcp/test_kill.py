"""D1: the gateway is killed while clients send. A retry with the same clientId posts once."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conditions import until
from tests.gateway_process import open_gateway
from tests.world import Person

TEXTS = [f"Message {n}" for n in range(16)]


async def test_d1_a_kill_in_the_middle_of_a_send_and_a_retry_post_once(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as gateway:
        space = await gateway.owner.create_space("Words")
        answered: set[str] = set()
        sending = asyncio.create_task(_send_all(gateway.owner, space, answered))
        # The others are on their way.
        enough = random.randint(1, len(TEXTS) // 2)
        await until(lambda: len(answered) >= enough)
        await gateway.kill()
        # To its end, whatever that is: a client that is canceled leaves connections open.
        await asyncio.gather(sending, return_exceptions=True)
        await gateway.start()
        again: set[str] = set()
        await _send_all(gateway.owner, space, again)
        found = [text for _, text in await gateway.said(space)]
    assert again == set(TEXTS)
    assert sorted(found) == sorted(TEXTS)


async def _send_all(owner: Person, space: str, answered: set[str]) -> None:
    headers = {"authorization": f"Bearer {owner.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(f"{owner.base_url}/mcp", http_client=http), cache=None) as client,
    ):

        async def send(text: str) -> None:
            given: dict[str, Any] = {"spaceId": space, "text": text, "clientId": text.replace(" ", "-")}
            result = await client.call_tool("send_message", given)
            assert not result.is_error, result.content
            answered.add(text)

        await asyncio.gather(*map(send, TEXTS), return_exceptions=True)
