"""A web server on 127.0.0.1 that sends the bytes a test gives it and records its requests."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from majlis import ToolContext

Answer = Callable[["Asked"], bytes | AsyncIterator[bytes]]


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


def answer(body: bytes | str = b"", status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    content = body.encode() if isinstance(body, str) else body
    listed = {"Content-Type": kind, "Content-Length": str(len(content)), "Connection": "close"}
    listed |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in listed.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@dataclass
class Web:
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    answers: Answer = lambda asked: answer('{"ok": true}')

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            method, path, _ = first.split(" ")
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.asked.append(Asked(method, path, headers, body))
            said = self.answers(self.asked[-1])
            if isinstance(said, bytes):
                writer.write(said)
            else:
                async for piece in said:
                    writer.write(piece)
                    await writer.drain()
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serve_web(host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    web = Web()
    serving: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(web.serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_server(begin, host, port, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        # An answer that never ends would meet the garbage collector in a later test.
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


def context(**more: object) -> ToolContext:
    """The context of a call outside a run."""
    facts: dict[str, object] = {
        "agent_id": "ent_agent",
        "agent_name": "Scout",
        "run_id": "run_1",
        "space_id": "spc_1",
        "space_name": "Lobby",
        "idempotency_key": "run_1:3",
    }
    return ToolContext(**(facts | more))  # type: ignore[arg-type]
