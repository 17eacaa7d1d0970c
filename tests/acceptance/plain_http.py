"""HTTP/1.1 over plain streams: for a thousand requests at once, httpx's pool is slower than the server."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from tests.world import Person


async def post_repeatedly(person: Person, path: str, body: Any, times: int) -> list[tuple[int, Any]]:
    """Sends the requests one after the other over their own connection. Returns the status and the JSON of each
    response."""
    url = urlsplit(person.base_url)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {person.token}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    answers = []
    for _ in range(times):
        writer.write(head.encode() + content)
        answers.append(await _answer(reader))
    writer.close()
    await writer.wait_closed()
    return answers


async def _answer(reader: asyncio.StreamReader) -> tuple[int, Any]:
    status, *headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    length = next(int(header.partition(":")[2]) for header in headers if header.startswith("content-length:"))
    return int(status.split()[1]), json.loads(await reader.readexactly(length))
