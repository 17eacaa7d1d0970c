"""A TCP proxy in front of a PostgreSQL server that a test can cut: connections break, and new ones are refused, or
answered as by a server that is starting up."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

import sqlalchemy as sa

_FIELDS = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
_STARTING_UP = b"E" + (len(_FIELDS) + 4).to_bytes(4) + _FIELDS


class DatabaseProxy:
    def __init__(self, database_url: str, host: str = "127.0.0.1") -> None:
        self._host = host
        self._target = sa.make_url(database_url)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        # Connections that were accepted while it was cut, and closed at once.
        self.refused = 0
        self._cut = False
        self._starts_up = False

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    @property
    def url(self) -> str:
        target = self._target.set(host=self._host, port=self._port).difference_update_query(["host"])
        return target.render_as_string(hide_password=False)

    def cut(self) -> None:
        self._cut = True
        for writer in self._open:
            writer.transport.abort()

    def start_up(self) -> None:
        """New connections are refused in PostgreSQL's own words, until `restore`."""
        self.cut()
        self._starts_up = True

    def restore(self) -> None:
        self._cut = self._starts_up = False

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._cut:
            self.refused += 1
            if self._starts_up:
                await _refuse(reader, writer)
            else:
                writer.transport.abort()
            return
        there_reader, there_writer = await self._connect()
        for source, sink, asks in ((reader, there_writer, True), (there_reader, writer, False)):
            self._open.add(sink)
            task = asyncio.create_task(self._pump(source, sink, asks))
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        folder = self._target.query.get("host")
        port = self._target.port or 5432
        if isinstance(folder, str):
            return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{port}")
        return await asyncio.open_connection(self._target.host, port)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, asks: bool) -> None:
        """`asks` is true for what the client sends."""
        with suppress(OSError):
            while chunk := await source.read(65536):
                sink.write(chunk)
                await sink.drain()
        self._open.discard(sink)
        sink.transport.abort()


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        # A client asks for TLS first, in eight bytes.
        await reader.readexactly(8)
        writer.write(b"N")
        await reader.read(65536)
        writer.write(_STARTING_UP)
        await writer.drain()
    writer.close()
