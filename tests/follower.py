"""Reads Server-Sent Events until the event that a test expects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import httpx

from tests.conditions import PATIENCE_SECONDS


@dataclass(frozen=True)
class Event:
    id: str
    type: str
    data: Any


class StreamEnded(Exception):
    pass


async def lines(response: httpx.Response) -> AsyncIterator[str]:
    """Lines end only at a line feed. httpx's own also end at separators that a message may contain."""
    rest = ""
    async for text in response.aiter_text():
        *whole, rest = (rest + text).split("\n")
        for line in whole:
            yield line


class Follower:
    def __init__(self, http: httpx.AsyncClient, path: str, last_id: str | None = None) -> None:
        self._http = http
        self._path = path
        self.last_id = last_id
        self.seen: list[Event] = []
        self.comments = 0
        self._response: httpx.Response | None = None
        self._lines: AsyncIterator[str] | None = None

    async def __aenter__(self) -> Follower:
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        request = self._http.build_request("GET", self._path, headers=headers)
        request.extensions["timeout"] = {"connect": 10, "read": None, "write": 10, "pool": 10}
        self._response = await self._http.send(request, stream=True)
        assert self._response.status_code == 200, await self._response.aread()
        assert self._response.headers["content-type"].startswith("text/event-stream")
        self._lines = lines(self._response)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._response is not None
        await self._response.aclose()

    async def next(self) -> Event:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self._next()

    async def until(self, type: str, **expected: Any) -> Event:
        """Returns the next event of this type with these values. Earlier events stay in `seen`."""
        while True:
            event = await self.next()
            if event.type == type and all(event.data.get(key) == value for key, value in expected.items()):
                return event

    async def until_message(self, text: str) -> Event:
        while True:
            event = await self.until("space.message")
            if event.data["message"]["text"] == text:
                return event

    async def until_end(self) -> None:
        while True:
            try:
                await self.next()
            except StreamEnded:
                return

    async def _next(self) -> Event:
        assert self._lines is not None
        fields: dict[str, str] = {}
        try:
            async for line in self._lines:
                if line.startswith(":"):
                    self.comments += 1
                elif line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif fields:
                    event = Event(fields["id"], fields["event"], json.loads(fields["data"]))
                    assert event.data["type"] == event.type
                    self.last_id = event.id
                    self.seen.append(event)
                    return event
        except httpx.ReadError as error:
            raise StreamEnded from error
        except httpx.RemoteProtocolError as error:
            raise StreamEnded from error
        raise StreamEnded
