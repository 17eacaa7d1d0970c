"""A client of Majlis over the Model Context Protocol: it answers "ping" in every space that it is a member of.

Set MAJLIS_URL and MAJLIS_TOKEN, then run `python -m examples.mcp_client`.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    url = os.environ.get("MAJLIS_URL", "http://localhost:8700")
    headers = {"Authorization": f"Bearer {os.environ['MAJLIS_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=330) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        found = await call(client, "wait_for_messages", waitSeconds=0)
        print("Waiting for messages.", flush=True)  # noqa: T201
        while True:
            # The cursor makes sure that no message is lost or answered twice.
            found = await call(client, "wait_for_messages", cursor=found["cursor"], waitSeconds=300)
            for message in found["messages"]:
                if message["text"].strip().lower() == "ping":
                    # A retry with the same clientId posts nothing twice.
                    answer = {"text": "pong", "replyTo": message["id"], "clientId": f"pong-{message['id']}"}
                    await call(client, "send_message", spaceId=message["spaceId"], **answer)


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit(f"{tool}: {result.content[0]}")
    return result.structured_content


if __name__ == "__main__":
    asyncio.run(main())
