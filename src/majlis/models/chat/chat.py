"""Our own client of the streaming Chat Completions protocol, for every model with a `baseUrl`.

Not the library's: what is sent is then exactly what is kept (X13), at a fraction of the CPU for each streamed piece.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from majlis.agents.config.model import ModelObject
from majlis.models.chat.assemble import GrowingAnswer
from majlis.models.chat.body import Body
from majlis.models.chat.refusals import error_in, raise_refusal
from majlis.models.chat.session import session_header, session_in_headers
from majlis.models.keys import Key
from majlis.models.port import Finished, ModelEvent, ModelFailed, Prompt
from majlis.models.provider_errors import Side
from majlis.sse import EventParser

_CONNECT_SECONDS = 10.0
# Without a byte. A slow machine that reads a long prompt needs more: that is what settings.timeout is for.
_QUIET_SECONDS = 120.0
_DRAIN_SECONDS = 0.1
# Of one event, and of what an answer says: many times what any model writes.
_MOST_BYTES = 8 * 1024 * 1024
_DONE = b"[DONE]"
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    # Compression makes servers and proxies hold pieces back.
    "Accept-Encoding": "identity",
}


class ChatModel:
    """The client is shared by all models of one address and key, and closed by whoever opened it."""

    def __init__(self, choice: ModelObject, key: Key, client: httpx.AsyncClient) -> None:
        assert choice.base_url is not None
        self._client = client
        self._url = f"{choice.base_url.rstrip('/')}/chat/completions"
        self._side = Side(f"The model server at {urlsplit(choice.base_url).netloc}", choice.name, key)
        self._body = Body(choice)
        self._seconds = choice.settings.timeout
        self._timeout = httpx.Timeout(self._seconds or _QUIET_SECONDS, connect=_CONNECT_SECONDS)
        self._headers = _HEADERS | ({"Authorization": f"Bearer {key.value}"} if key.value else {})

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        answer = GrowingAnswer(prompt)
        with self._failures():
            async with (
                self._opened(prompt) as (response, deadline),
                aclosing(self._chunks(response, deadline, answer)) as chunks,
            ):
                answer.session_id = session_in_headers(response.headers)
                async for chunk in chunks:
                    for event in self._grown(answer, chunk):
                        yield event
        self._check(answer)
        yield Finished(answer.finished())

    async def close(self) -> None:
        return None

    @asynccontextmanager
    async def _opened(self, prompt: Prompt) -> AsyncIterator[tuple[httpx.Response, float | None]]:
        deadline = None if self._seconds is None else time.monotonic() + self._seconds
        body, headers = self._body.bytes(prompt), self._headers | session_header(prompt.session_id)
        request = self._client.build_request("POST", self._url, content=body, headers=headers, timeout=self._timeout)
        async with _until(deadline):
            response = await self._client.send(request, stream=True)
        try:
            if response.status_code != 200:
                async with _until(deadline):
                    await raise_refusal(self._side, response)
            yield response, deadline
        finally:
            await response.aclose()

    def _chunks(
        self, response: httpx.Response, deadline: float | None, answer: GrowingAnswer
    ) -> AsyncGenerator[dict[str, Any]]:
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/html"):
            # A page for people: the baseUrl leads somewhere else, often only "/v1" is missing.
            raise self._side.not_found(response.status_code)
        if kind.startswith("application/json"):
            return self._whole(response, deadline)
        return self._streamed(response, deadline, answer)

    async def _whole(self, response: httpx.Response, deadline: float | None) -> AsyncGenerator[dict[str, Any]]:
        """A server that does not stream answers with everything at once."""
        body = bytearray()
        async with _until(deadline):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    raise self._side.endless(_MOST_BYTES)
        yield self._chunk(bytes(body))

    async def _streamed(
        self, response: httpx.Response, deadline: float | None, answer: GrowingAnswer
    ) -> AsyncGenerator[dict[str, Any]]:
        parser = EventParser()
        pieces = response.aiter_bytes()
        while True:
            async with _until(deadline):
                piece = await anext(pieces, None)
            for event in parser.end() if piece is None else parser.feed(piece):
                if event.data == _DONE:
                    await _drain(pieces)
                    return
                yield self._chunk(event.data)
            if piece is None:
                break
            if parser.held > _MOST_BYTES:
                raise self._side.endless(_MOST_BYTES)
        # Not every server says [DONE]; a reason to stop says as much.
        if answer.finish_reason is None:
            raise self._side.broken("the stream ended early")

    def _chunk(self, data: bytes) -> dict[str, Any]:
        try:
            chunk = orjson.loads(data)
        except orjson.JSONDecodeError:
            raise self._side.broken("a part of it is not JSON") from None
        if not isinstance(chunk, dict):
            raise self._side.broken("a part of it is not an object")
        if chunk.get("error"):
            raise error_in(self._side, chunk["error"])
        return chunk

    def _grown(self, answer: GrowingAnswer, chunk: dict[str, Any]) -> list[ModelEvent]:
        try:
            grown = list(answer.add(chunk))
        except (AttributeError, TypeError, KeyError) as error:
            raise self._side.broken("a part of it has an unknown form") from error
        if answer.size > _MOST_BYTES:
            raise self._side.endless(_MOST_BYTES)
        return grown

    def _check(self, answer: GrowingAnswer) -> None:
        failed = self._wrong_with(answer)
        if failed is not None:
            # It was paid for all the same.
            failed.usage = answer.usage
            raise failed

    def _wrong_with(self, answer: GrowingAnswer) -> ModelFailed | None:
        if not answer.begun:
            return self._side.broken("there was none")
        if answer.cut_off:
            return self._side.cut_off()
        if answer.nameless:
            return self._side.broken("a tool call has no name")
        return self._side.filtered() if answer.finish_reason == "content_filter" else None

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise self._side.unreachable(str(error)) from error
        except TimeoutError as error:
            raise self._side.timed_out(self._seconds) from error
        except httpx.TimeoutException as error:
            raise self._side.timed_out() from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise self._side.misconfigured("its baseUrl is not a usable address.") from error
        except httpx.HTTPError as error:
            raise self._side.broken("the connection was lost") from error


def _until(deadline: float | None) -> asyncio.Timeout:
    """Around single reads rather than the whole stream, which is suspended while its reader is at work."""
    return asyncio.timeout(None if deadline is None else max(0.0, deadline - time.monotonic()))


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """A response read to its end leaves its connection to the next request; some servers are slow to end it."""
    # The answer is whole: a connection that breaks now is of no interest.
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass
