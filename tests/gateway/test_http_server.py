"""Options of the listening socket, which every connection inherits."""

from __future__ import annotations

import asyncio
import socket

from majlis.http_server import bind
from majlis.settings import Settings


async def test_an_answer_in_two_writes_does_not_wait_for_an_acknowledgement(settings: Settings) -> None:
    """With asyncio's own loop every request used to take 44 ms because of Nagle's algorithm."""
    accepted: asyncio.Future[asyncio.BaseTransport] = asyncio.get_running_loop().create_future()

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.set_result(transport)

    listener = bind(settings)
    server = await asyncio.get_running_loop().create_server(Connection, sock=listener)
    _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
    transport = await accepted
    assert transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    transport.close()
    writer.close()
    server.close()
