"""The client for every model with a `baseUrl`.

Our own instead of the library's: we store exactly what we send (X13), and a streamed chunk costs a fraction of the CPU.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from functools import cached_property
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from majlis.agents.config.model import ModelObject
from majlis.model_providers import Key
from majlis.models.chat.wire_format import AnswerBuilder, Body, session_header, session_in_headers
from majlis.models.port import Finished, ModelEvent, ModelFailed, Patience, Prompt
from majlis.models.provider_errors import ProviderErrors
from majlis.sse import EventParser

_LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=20)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_FIRST_BYTE = 120.0
_FIRST_BYTE_NEARBY = 300.0
_IDLE = 60.0
_NEARBY_NAMES = (".local", ".lan", ".internal", ".localhost")
# Reads have their own deadlines.
_TIMEOUT = httpx.Timeout(None, connect=10.0)
_DRAIN_SECONDS = 0.1
# For one event and for a whole answer: many times what any model writes.
_MAX_BYTES = 8 * 1024 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_DONE = b"[DONE]"
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    # Compression makes servers and proxies delay chunks.
    "Accept-Encoding": "identity",
}


class Clients:
    """One HTTP client per address and key, so that a slow server does not use up the connections of another."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str | None], httpx.AsyncClient] = {}

    def get(self, base_url: str, key: str | None) -> httpx.AsyncClient:
        found = self._open.get((base_url, key))
        if found is None:
            found = self._open[base_url, key] = httpx.AsyncClient(
                verify=self._tls if base_url.startswith("https:") else False,
                limits=_LIMITS,
                # Never reach a server on this machine through the environment's proxy.
                trust_env=urlsplit(base_url).hostname not in _LOOPBACK,
            )
        return found

    async def close(self) -> None:
        opened, self._open = list(self._open.values()), {}
        for client in opened:
            await client.aclose()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Loaded once: the certificates take milliseconds and a megabyte."""
        return httpx.create_ssl_context()


class Deadlines:
    """How long one request may take, to any provider: until its answer begins, for each further part, and in all.

    A hung model holds one of its agent's slots, so waiting is bounded. A server on this machine or in a private network
    often runs on slow hardware and reads a long prompt for minutes, so it gets more time to begin."""

    def __init__(self, choice: ModelObject, given: Patience) -> None:
        self._total = choice.settings.timeout
        # A timeout in the model's settings replaces the defaults, not what the agent's limits say.
        self._first_byte = given.first_byte or self._total or _first_byte(choice)
        self._idle = given.idle or self._total or _IDLE
        self._began = time.monotonic()
        # Set when the first part of the answer has arrived.
        self.begun = False

    def next(self) -> asyncio.Timeout:
        """For a single read. A timeout around the whole stream would also count the time that its consumer takes."""
        passed = time.monotonic() - self._began
        left = self._idle if self.begun else self._first_byte - passed
        return asyncio.timeout(max(0.0, left if self._total is None else min(left, self._total - passed)))

    def failure(self, errors: ProviderErrors) -> ModelFailed:
        """The error of a timeout, by which limit it was."""
        if self._total is not None and time.monotonic() - self._began >= self._total:
            return errors.timed_out(self._total)
        return errors.hung(self._idle if self.begun else self._first_byte, self.begun)


class ChatModel:
    """Shares the HTTP client with other models, and does not close it."""

    def __init__(self, choice: ModelObject, key: Key, client: httpx.AsyncClient) -> None:
        assert choice.base_url is not None
        self._client = client
        self._url = f"{choice.base_url.rstrip('/')}/chat/completions"
        self._errors = ProviderErrors(f"The model server at {urlsplit(choice.base_url).netloc}", choice.name, key)
        self._body = Body(choice)
        self._choice = choice
        self._headers = _HEADERS | ({"Authorization": f"Bearer {key.value}"} if key.value else {})

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        answer = AnswerBuilder(prompt)
        deadlines = Deadlines(self._choice, prompt.patience)
        with self._http_errors(deadlines):
            async with (
                self._opened(prompt, deadlines) as response,
                aclosing(self._chunks(response, deadlines, answer)) as chunks,
            ):
                answer.session_id = session_in_headers(response.headers)
                async for chunk in chunks:
                    for event in self._add(answer, chunk):
                        yield event
        yield Finished(answer.finished(self._errors))

    @asynccontextmanager
    async def _opened(self, prompt: Prompt, deadlines: Deadlines) -> AsyncIterator[httpx.Response]:
        body, headers = self._body.bytes(prompt), self._headers | session_header(prompt.session_id)
        request = self._client.build_request("POST", self._url, content=body, headers=headers, timeout=_TIMEOUT)
        async with deadlines.next():
            response = await self._client.send(request, stream=True)
        try:
            if response.status_code != 200:
                async with deadlines.next():
                    body = await _beginning(response)
                raise self._errors.of_body(response.status_code, response.headers, body)
            yield response
        finally:
            await response.aclose()

    def _chunks(
        self, response: httpx.Response, deadlines: Deadlines, answer: AnswerBuilder
    ) -> AsyncGenerator[dict[str, Any]]:
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/html"):
            # A web page: the baseUrl is wrong, often "/v1" is missing.
            raise self._errors.not_found(response.status_code)
        if kind.startswith("application/json"):
            return self._whole(response, deadlines)
        return self._streamed(response, deadlines, answer)

    async def _whole(self, response: httpx.Response, deadlines: Deadlines) -> AsyncGenerator[dict[str, Any]]:
        """The answer of a server that does not stream."""
        body = bytearray()
        pieces = response.aiter_bytes()
        while (piece := await _next(pieces, deadlines)) is not None:
            body += piece
            if len(body) > _MAX_BYTES:
                raise self._errors.endless(_MAX_BYTES)
        yield self._chunk(bytes(body))

    async def _streamed(
        self, response: httpx.Response, deadlines: Deadlines, answer: AnswerBuilder
    ) -> AsyncGenerator[dict[str, Any]]:
        parser = EventParser()
        pieces = response.aiter_bytes()
        while True:
            piece = await _next(pieces, deadlines)
            for event in parser.end() if piece is None else parser.feed(piece):
                if event.data == _DONE:
                    await _drain(pieces)
                    return
                yield self._chunk(event.data)
            if piece is None:
                break
            if parser.held > _MAX_BYTES:
                raise self._errors.endless(_MAX_BYTES)
        # Not every server sends [DONE]; a finish reason also ends the answer.
        if answer.finish_reason is None:
            raise self._errors.broken("the stream ended early")

    def _chunk(self, data: bytes) -> dict[str, Any]:
        try:
            chunk = orjson.loads(data)
        except orjson.JSONDecodeError:
            raise self._errors.broken("a chunk is not JSON") from None
        if not isinstance(chunk, dict):
            raise self._errors.broken("a chunk is not an object")
        if chunk.get("error"):
            raise self._errors.in_stream(chunk["error"])
        return chunk

    def _add(self, answer: AnswerBuilder, chunk: dict[str, Any]) -> list[ModelEvent]:
        try:
            events = list(answer.add(chunk))
        except (AttributeError, TypeError, KeyError) as error:
            raise self._errors.broken("a chunk has an unknown format") from error
        if answer.size > _MAX_BYTES:
            raise self._errors.endless(_MAX_BYTES)
        return events

    @contextmanager
    def _http_errors(self, deadlines: Deadlines) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise self._errors.unreachable(str(error)) from error
        except TimeoutError as error:
            raise deadlines.failure(self._errors) from error
        except httpx.TimeoutException as error:
            raise self._errors.timed_out() from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise self._errors.misconfigured("its baseUrl is not a valid URL.") from error
        except httpx.HTTPError as error:
            raise self._errors.broken("the connection was lost") from error


async def _next(pieces: AsyncIterator[bytes], deadlines: Deadlines) -> bytes | None:
    async with deadlines.next():
        piece = await anext(pieces, None)
    deadlines.begun = True
    return piece


async def _beginning(response: httpx.Response) -> bytes:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _MAX_ERROR_BYTES:
            break
    return body[:_MAX_ERROR_BYTES]


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """A response that is read to its end frees its connection for the next request. The answer is already complete, so
    errors do not matter."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _first_byte(choice: ModelObject) -> float:
    host = urlsplit(choice.base_url).hostname if choice.base_url is not None else None
    return _FIRST_BYTE_NEARBY if host is not None and _is_nearby(str(host)) else _FIRST_BYTE


def _is_nearby(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_NEARBY_NAMES)
