"""HTTP/1.1 over plain streams: a thousand requests at once cost a real client's pool more than they cost the server."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from tests.world import Person


async def post_repeatedly(person: Person, path: str, body: Any, times: int) -> list[tuple[int, Any]]:
    """One after the other over a connection of their own. The status and the JSON of each answer."""
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
