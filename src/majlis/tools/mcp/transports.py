"""The two ways to an MCP server, each with bounds of ours around it: where it may lead, and how much may come back."""

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
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from majlis.errors import MajlisError
from majlis.shield import unbroken
from majlis.tools.http.exchange import usual_tls
from majlis.tools.mcp.routes import Route
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.target import parse_target

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
_CONNECT_SECONDS = 10.0
_LONGEST_SECONDS = 600.0
_GRACE_SECONDS = 2.0


def transport(route: Route, reach: Reach, ended: Callable[[], None]) -> AbstractAsyncContextManager[TransportStreams]:
    """`ended` is called when the server has gone by itself."""
    if route.argv:
        return _over_stdio(route.argv, route.env, ended)
    return _over_http(route.url, route.headers, reach)


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str], reach: Reach) -> AsyncGenerator[TransportStreams]:
    client = httpx2.AsyncClient(
        transport=_Checked(reach),
        headers={**headers, "accept-encoding": "identity"},
        # How long a call may take is decided by who makes it; no call may take longer than this.
        timeout=httpx2.Timeout(_LONGEST_SECONDS, connect=_CONNECT_SECONDS),
        trust_env=False,
    )
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams:
        yield streams


class _Checked(httpx2.AsyncBaseTransport):
    """Every request goes to an address that was checked for it. The pool is one server's own: redirects to others are
    not followed, so no two names share a connection."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
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
            raise httpx2.DecodingError("the server answered compressed, though it was asked not to", request=request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)
        return response

    async def _send(self, request: httpx2.Request, addresses: Sequence[str]) -> httpx2.Response:
        """`localhost` is often two addresses, and the server at one of them."""
        for address in addresses[:-1]:
            request.url = request.url.copy_with(host=address)
            # Nothing was sent where nobody could be reached.
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._inner.handle_async_request(request)
        request.url = request.url.copy_with(host=addresses[-1])
        return await self._inner.handle_async_request(request)

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
                raise httpx2.ReadError(f"the answer is longer than {MAX_MESSAGE_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def _over_stdio(
    argv: Sequence[str], env: dict[str, str], ended: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    """A process of its own group, which knows nothing of our environment but the path and the user's name.

    Not the package's own: that one has no bound for a line, and takes quadratic time for a long one.
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
        # A scope of anyio's keeps off its own cancellations only.
        with anyio.CancelScope(shield=True):
            await unbroken(asyncio.ensure_future(_end(process)))


async def _hear(
    process: Process, session: ObjectSendStream[SessionMessage | Exception], ended: Callable[[], None]
) -> None:
    """Line by line. After what is too long or no message nothing can be trusted any more: the connection ends."""
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
    """Its input ends, which is the usual sign to go; then it and all that it started are told so, and then ended."""
    assert process.stdin is not None
    process.stdin.close()
    # One that still writes would wait for its reader, and not go.
    reading = asyncio.ensure_future(_read_the_rest(process))
    for last_word in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
                break
        _tell_group(process, last_word)
    await process.wait()
    # It may have gone and left behind what it started (a shell or a launcher, and the server itself).
    _tell_group(process, signal.SIGKILL)
    await asyncio.wait([reading], timeout=_GRACE_SECONDS)
    reading.cancel()


def _tell_group(process: Process, word: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, word)


async def _read_the_rest(process: Process) -> None:
    assert process.stdout is not None
    while await process.stdout.read(MAX_MESSAGE_BYTES):
        pass
