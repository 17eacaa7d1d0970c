"""A program that receives webhooks: a real HTTP server that notes every request and answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from standardwebhooks.webhooks import Webhook

from tests.conditions import until


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]
    body: bytes
    path: str = "/"

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> Any:
        return orjson.loads(self.body)

    @property
    def text(self) -> str:
        return str(self.event["data"]["message"]["text"])

    def verify(self, secret: str) -> None:
        Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    port: int
    got: list[Received] = field(default_factory=list)
    # The status of the next responses; None leaves the request without a response.
    answer: Callable[[Received], int | None] = lambda received: 200
    more: str = ""
    # How many requests were held without a response at the same time.
    held: int = 0
    most_held: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/hook?a=1"

    async def until_got(self, count: int) -> list[Received]:
        await until(lambda: len(self.got) >= count)
        return self.got

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head)}
            body = await reader.readexactly(int(headers["content-length"]))
            received = Received(headers, body, first.split(" ")[1])
            self.got.append(received)
            status = self.answer(received)
            if status is None:
                self.held += 1
                self.most_held = max(self.held, self.most_held)
                await reader.read()
                self.held -= 1
                return
            writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 2\r\nConnection: close\r\n{self.more}\r\nok".encode())
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def open_receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver(0)
    server = await asyncio.start_server(lambda *pair: receiver.serve(*pair), "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
