"""A proxy in front of a PostgreSQL server that counts what a client waits for, as seen on the wire.

A round trip is what the client sends before it waits: a statement, or several. Preparing a statement is not counted: it
happens once per connection.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from tests.database_proxy import DatabaseProxy

_ENCRYPT = 80877103


@dataclass
class Transaction:
    """From BEGIN to its end: the statements of each round trip."""

    trips: list[list[str]] = field(default_factory=list)

    @property
    def statements(self) -> list[str]:
        return [each for trip in self.trips for each in trip]

    def does(self, *words: str) -> bool:
        whole = " ".join(self.statements)
        return all(word in whole for word in words)


class Wire(DatabaseProxy):
    def __init__(self, database_url: str) -> None:
        super().__init__(database_url)
        # In the order of their ends.
        self.transactions: list[Transaction] = []

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, asks: bool) -> None:
        if not asks:
            await super()._pump(source, sink, asks)
            return
        client = _Client(self.transactions)
        with suppress(OSError, asyncio.IncompleteReadError):
            await _pass_start(source, sink)
            while True:
                head = await source.readexactly(5)
                body = await source.readexactly(int.from_bytes(head[1:]) - 4)
                client.sends(head[:1], body)
                sink.write(head + body)
                await sink.drain()
        self._open.discard(sink)
        sink.transport.abort()


async def _pass_start(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """The messages before the others have no type."""
    code = _ENCRYPT
    while code == _ENCRYPT:
        length = await source.readexactly(4)
        body = await source.readexactly(int.from_bytes(length) - 4)
        code = int.from_bytes(body[:4])
        sink.write(length + body)
        await sink.drain()


class _Client:
    def __init__(self, ended: list[Transaction]) -> None:
        self._ended = ended
        self._prepared: dict[bytes, str] = {}
        self._current: Transaction | None = None
        self._bound: list[str] = []

    def sends(self, kind: bytes, body: bytes) -> None:
        if kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self._prepared[name] = text.decode()
        elif kind == b"B":
            self._bound.append(self._prepared[body.split(b"\0", 2)[1]])
        elif kind == b"S" and self._bound:
            self._waits_for(self._bound)
            self._bound = []
        elif kind == b"Q":
            self._waits_for([body.rstrip(b"\0").decode()])

    def _waits_for(self, trip: list[str]) -> None:
        if trip[0].startswith("BEGIN"):
            self._current = Transaction()
        if self._current is None:
            return
        self._current.trips.append(trip)
        if trip[-1].startswith(("COMMIT", "ROLLBACK")):
            self._ended.append(self._current)
            self._current = None
