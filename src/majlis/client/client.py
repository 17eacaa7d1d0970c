"""The client for asyncio. Its methods are those of the `…Calls`, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self, TypeVar, cast

import httpx

from majlis.client import follow as live
from majlis.client.agent_calls import AgentCalls
from majlis.client.transport import answer, refusal, unreachable
from majlis.client.call import AsyncSender, Call
from majlis.client.connection import build, options
from majlis.client.entity_calls import EntityCalls
from majlis.client.follow import Following
from majlis.client.patience import Patience
from majlis.client.run_calls import RunCalls
from majlis.client.space_calls import SpaceCalls
from majlis.client.sse import Event
from majlis.errors import MajlisError

T = TypeVar("T")


class MajlisClient(EntityCalls, AgentCalls, SpaceCalls, RunCalls, AsyncSender):
    """`async with MajlisClient(url, token) as client`. Whatever fails raises one of `majlis.errors`.

    For `patience_seconds` it tries again what is safe to try again: reading, posting, and whatever never arrived.
    """

    def __init__(self, url: str, token: str | None = None, *, patience_seconds: float = 10.0) -> None:
        self.url = url.rstrip("/")
        self._patience_seconds = patience_seconds
        self._http = httpx.AsyncClient(**options(self.url, token))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, call: Call[T]) -> T:
        patience = Patience(self._patience_seconds)
        while True:
            try:
                return await self._send_once(call)
            except MajlisError as error:
                pause = patience.pause(call, error)
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def follow(
        self, space_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Live events of one space, or of all one's own; reconnects by itself and goes on where it stopped.

        Besides the server's events there is `disconnected` before each new try. After `resync` something was missed
        for good: load anew. It ends with an exception when the token or the membership has ended.
        """
        following = Following(space_id, last_event_id)
        while True:
            try:
                async with aclosing(self._stream(following)) as events:
                    async for event in events:
                        yield event
                lost: MajlisError = live.ended()
            except MajlisError as error:
                lost = error
            yield following.broken(lost)
            await asyncio.sleep(following.pause)

    async def _send_once(self, call: Call[T]) -> T:
        try:
            return cast(T, answer(await self._http.send(build(self._http, call))))
        except httpx.RequestError as error:
            raise unreachable(self.url, error) from error

    async def _stream(self, following: Following) -> AsyncGenerator[Event, None]:
        try:
            async with self._http.stream(
                "GET", following.path, headers=following.headers(), timeout=live.TIMEOUT
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                following.begin(response)
                async for chunk in response.aiter_bytes():
                    for event in following.read(chunk):
                        yield event
        except httpx.RequestError as error:
            raise unreachable(self.url, error) from error
