"""HTTP and stdio transports for MCP servers, with checked addresses and limited message sizes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import httpx2
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from majlis.errors import MajlisError
from majlis.hosts import parse_target
from majlis.runs.engine import unbroken
from majlis.tools.mcp.endpoint import Route
from majlis.tools.reach.exchange import usual_tls
from majlis.tools.reach.reach import Reach

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
_CONNECT_SECONDS = 10.0
_LONGEST_SECONDS = 600.0
_GRACE_SECONDS = 2.0


def transports(
    route: Route, reach: Reach, auth: httpx2.Auth | None, ended: Callable[[], None]
) -> Sequence[AbstractAsyncContextManager[TransportStreams]]:
    """One after the other is tried. `ended` is called when the server exits or closes the connection."""
    if route.argv:
        return [_over_stdio(route.argv, route.env, ended)]
    http = _over_http(route.url, route.headers, reach, auth)
    sse = _over_sse(route.url, route.headers, reach, auth, ended)
    ways = {"http": http, "sse": sse}
    return [ways[route.transport]] if route.transport is not None else [http, sse]


@asynccontextmanager
async def _over_http(
    url: str, headers: dict[str, str], reach: Reach, auth: httpx2.Auth | None
) -> AsyncGenerator[TransportStreams]:
    client = checked_client(headers, reach, auth=auth)
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams:
        yield streams


@asynccontextmanager
async def _over_sse(
    url: str, headers: dict[str, str], reach: Reach, signed_in: httpx2.Auth | None, ended: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    """The transport before 2025-03-26. Messages to the server go to an address of the same origin."""

    def make(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return checked_client(headers or {}, reach, ended, signed_in)

    async with sse_client(
        url, headers, timeout=_CONNECT_SECONDS, sse_read_timeout=_LONGEST_SECONDS, httpx_client_factory=make
    ) as streams:
        yield streams


def checked_client(
    headers: dict[str, str], reach: Reach, ended: Callable[[], None] | None = None, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        auth=auth,
        transport=_Checked(reach, ended),
        headers={**headers, "accept-encoding": "identity"},
        # Callers set their own shorter timeouts.
        timeout=httpx2.Timeout(_LONGEST_SECONDS, connect=_CONNECT_SECONDS),
        trust_env=False,
    )


class _Checked(httpx2.AsyncBaseTransport):
    """Checks the address of every request. The pool belongs to one server and redirects are not followed, so no two
    host names share a connection."""

    def __init__(self, reach: Reach, ended: Callable[[], None] | None = None) -> None:
        self._reach = reach
        self._ended = ended
        self._inner = httpx2.AsyncHTTPTransport(verify=usual_tls(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        target = parse_target(str(request.url))
        try:
            addresses = await self._reach.addresses(target)
        except MajlisError as error:
            raise httpx2.ConnectError(error.message, request=request) from error
        request.headers["host"] = target.authority
        request.extensions = {**request.extensions, "sni_hostname": target.host}
        response = await self._send(request, addresses)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the server sent a compressed response", request=request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)
        elif self._ended is not None:
            response.stream = _Watched(response.stream, self._ended)
        return response

    async def _send(self, request: httpx2.Request, addresses: Sequence[str]) -> httpx2.Response:
        """`localhost` often has two addresses, with the server at one of them."""
        for address in addresses[:-1]:
            request.url = request.url.copy_with(host=address)
            # Nothing was sent: try the next address.
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._inner.handle_async_request(request)
        request.url = request.url.copy_with(host=addresses[-1])
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Watched(httpx2.AsyncByteStream):
    """The one stream of events of an older server: without it, no answer arrives."""

    def __init__(self, inner: httpx2.AsyncByteStream, ended: Callable[[], None]) -> None:
        self._inner = inner
        self._ended = ended

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                yield chunk
        finally:
            self._ended()

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._inner:
            read += len(chunk)
            if read > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"the response is longer than {MAX_MESSAGE_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def _over_stdio(
    argv: Sequence[str], env: dict[str, str], ended: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    """Starts a process in its own group, with a minimal environment.

    Replaces the transport of the `mcp` package, which has no line limit and takes quadratic time for long lines.
    """
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=get_default_environment() | env,
        limit=MAX_MESSAGE_BYTES,
        start_new_session=True,
    )
    heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, process, heard[0], ended)
            tasks.start_soon(_say, process, said[1])
            yield heard[1], said[0]
            tasks.cancel_scope.cancel()
    finally:
        for stream in (*heard, *said):
            stream.close()
        # anyio's shield does not cover asyncio cancellations.
        with anyio.CancelScope(shield=True):
            await unbroken(asyncio.ensure_future(_end(process)))


async def _hear(
    process: Process, session: ObjectSendStream[SessionMessage | Exception], ended: Callable[[], None]
) -> None:
    """Reads line by line. A line that is too long or not a message ends the connection."""
    assert process.stdout is not None
    async with session:
        with contextlib.suppress(ValueError, asyncio.LimitOverrunError, anyio.BrokenResourceError):
            while line := await process.stdout.readline():
                if line.strip():
                    await session.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
        ended()


async def _say(process: Process, session: ObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        async for message in session:
            process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()


async def _end(process: Process) -> None:
    """Closes its input, the usual sign to exit; then terminates its process group, then kills it."""
    assert process.stdin is not None
    process.stdin.close()
    # A process that still writes would block on its output and not exit.
    reading = asyncio.ensure_future(_read_the_rest(process))
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
                break
        _signal_group(process, kind)
    await process.wait()
    # A launcher may have exited and left the server running.
    _signal_group(process, signal.SIGKILL)
    await asyncio.wait([reading], timeout=_GRACE_SECONDS)
    reading.cancel()


def _signal_group(process: Process, kind: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, kind)


async def _read_the_rest(process: Process) -> None:
    assert process.stdout is not None
    while await process.stdout.read(MAX_MESSAGE_BYTES):
        pass
