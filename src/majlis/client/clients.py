"""`MajlisClient` for asyncio and `SyncMajlisClient` for blocking code. `Calls` has their methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import Self, TypeVar, cast

import httpx

from majlis.client.calls import Calls
from majlis.client.follow import ENDED, TIMEOUT, Event, Following
from majlis.client.transport import Retries, answer, build, connection_errors, options, refusal
from majlis.client.wire import Call
from majlis.errors import MajlisError

T = TypeVar("T")


class MajlisClient(Calls):
    """Use it as `async with MajlisClient(url, token) as client`. Failures raise the exceptions of `majlis.errors`.

    A call is retried for `patience_seconds` if that is safe: reads, posts, and requests that were never sent.
    """

    def __init__(self, url: str, token: str | None = None, *, patience_seconds: float = 10.0) -> None:
        self.url = url.rstrip("/")
        self._patience_seconds = patience_seconds
        self._http = httpx.AsyncClient(**options(self.url, token))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, call: Call[T]) -> T:
        retries = Retries(self._patience_seconds)
        while True:
            try:
                with connection_errors(self.url):
                    return cast(T, answer(await self._http.send(build(self._http, call)), call.binary))
            except MajlisError as error:
                delay = retries.delay(call, error)
                if delay is None:
                    raise
            await asyncio.sleep(delay)

    async def follow(
        self, space_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yields the live events of one space, or of all your spaces. Reconnects and continues after the last event.

        Besides the server's events it yields `disconnected` before each reconnect. After `resync`, load everything
        again: some events cannot be replayed. It raises an exception when the token or the membership has ended.
        """
        following = Following(space_id, last_event_id)
        while True:
            try:
                async with aclosing(self._stream(following)) as events:
                    async for event in events:
                        yield event
                lost: MajlisError = ENDED
            except MajlisError as error:
                lost = error
            yield following.broken(lost)
            await asyncio.sleep(following.delay)

    async def _stream(self, following: Following) -> AsyncGenerator[Event, None]:
        stream = self._http.stream("GET", following.path, headers=following.headers(), timeout=TIMEOUT)
        with connection_errors(self.url):
            async with stream as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                following.begin(response)
                async for chunk in response.aiter_bytes():
                    for event in following.read(chunk):
                        yield event


class SyncMajlisClient(Calls):
    """Like `MajlisClient`, without `await`: `with SyncMajlisClient(url, token) as client`."""

    def __init__(self, url: str, token: str | None = None, *, patience_seconds: float = 10.0) -> None:
        self.url = url.rstrip("/")
        self._patience_seconds = patience_seconds
        self._http = httpx.Client(**options(self.url, token))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call[T]) -> T:
        retries = Retries(self._patience_seconds)
        while True:
            try:
                with connection_errors(self.url):
                    return cast(T, answer(self._http.send(build(self._http, call)), call.binary))
            except MajlisError as error:
                delay = retries.delay(call, error)
                if delay is None:
                    raise
            time.sleep(delay)

    def follow(self, space_id: str | None = None, last_event_id: str | None = None) -> Generator[Event, None, None]:
        """Like `MajlisClient.follow`; blocks until the next event."""
        following = Following(space_id, last_event_id)
        while True:
            try:
                yield from self._stream(following)
                lost: MajlisError = ENDED
            except MajlisError as error:
                lost = error
            yield following.broken(lost)
            time.sleep(following.delay)

    def _stream(self, following: Following) -> Generator[Event, None, None]:
        stream = self._http.stream("GET", following.path, headers=following.headers(), timeout=TIMEOUT)
        with connection_errors(self.url), stream as response:
            if not response.is_success:
                response.read()
                raise refusal(response)
            following.begin(response)
            for chunk in response.iter_bytes():
                yield from following.read(chunk)
