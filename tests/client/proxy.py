"""A TCP proxy in front of a real server that simulates network failures: cut connections, lost responses, no server."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from urllib.parse import urlsplit

from tests.ports import free_port


class Proxy:
    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "", parts.port or 0)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = free_port()
        # How many responses are lost after the server has executed the request.
        self.answers_to_lose = 0
        # How many requests get a 503 without reaching the server.
        self.requests_to_refuse = 0
        self.requests: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Proxy:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)

    async def close(self) -> None:
        """Stops listening and cuts all connections."""
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        there_reader, there_writer = await asyncio.open_connection(*self._target)
        mine = {writer, there_writer}
        self._writers |= mine
        try:
            await asyncio.gather(
                self._requests(reader, writer, there_writer), self._answers(there_reader, mine, writer)
            )
        except OSError:
            pass
        finally:
            self._writers -= mine
            for one in mine:
                one.transport.abort()
            self._tasks.discard(task)

    async def _requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, there: asyncio.StreamWriter
    ) -> None:
        while chunk := await reader.read(65536):
            self.requests.append(chunk)
            if self.requests_to_refuse:
                self.requests_to_refuse -= 1
                writer.write(_UNAVAILABLE)
                await writer.drain()
            else:
                there.write(chunk)
                await there.drain()
        there.transport.abort()

    async def _answers(
        self, there: asyncio.StreamReader, mine: set[asyncio.StreamWriter], writer: asyncio.StreamWriter
    ) -> None:
        while chunk := await there.read(65536):
            if self.answers_to_lose:
                self.answers_to_lose -= 1
                break
            writer.write(chunk)
            await writer.drain()
        for one in mine:
            one.transport.abort()


_BODY = json.dumps({"error": {"code": "unavailable", "message": "Not now.", "details": {}}}).encode()
_UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)
