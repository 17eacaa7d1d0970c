"""The client for plain, blocking code. Its methods are those of the `…Calls`, called."""

from __future__ import annotations

import time
from collections.abc import Generator
from types import TracebackType
from typing import Self, TypeVar, cast

import httpx

from majlis.client import follow as live
from majlis.client.agent_calls import AgentCalls
from majlis.client.transport import answer, refusal, unreachable
from majlis.client.call import Call, SyncSender
from majlis.client.connection import build, options
from majlis.client.entity_calls import EntityCalls
from majlis.client.follow import Following
from majlis.client.patience import Patience
from majlis.client.run_calls import RunCalls
from majlis.client.space_calls import SpaceCalls
from majlis.client.sse import Event
from majlis.errors import MajlisError

T = TypeVar("T")


class SyncMajlisClient(EntityCalls, AgentCalls, SpaceCalls, RunCalls, SyncSender):
    """As `MajlisClient`, without `await`: `with SyncMajlisClient(url, token) as client`."""

    def __init__(self, url: str, token: str | None = None, *, patience_seconds: float = 10.0) -> None:
        self.url = url.rstrip("/")
        self._patience_seconds = patience_seconds
        self._http = httpx.Client(**options(self.url, token))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call[T]) -> T:
        patience = Patience(self._patience_seconds)
        while True:
            try:
                return self._send_once(call)
            except MajlisError as error:
                pause = patience.pause(call, error)
                if pause is None:
                    raise
            time.sleep(pause)

    def follow(self, space_id: str | None = None, last_event_id: str | None = None) -> Generator[Event, None, None]:
        """As `MajlisClient.follow`; blocks until the next event."""
        following = Following(space_id, last_event_id)
        while True:
            try:
                yield from self._stream(following)
                lost: MajlisError = live.ended()
            except MajlisError as error:
                lost = error
            yield following.broken(lost)
            time.sleep(following.pause)

    def _send_once(self, call: Call[T]) -> T:
        try:
            return cast(T, answer(self._http.send(build(self._http, call))))
        except httpx.RequestError as error:
            raise unreachable(self.url, error) from error

    def _stream(self, following: Following) -> Generator[Event, None, None]:
        try:
            with self._http.stream(
                "GET", following.path, headers=following.headers(), timeout=live.TIMEOUT
            ) as response:
                if not response.is_success:
                    response.read()
                    raise refusal(response)
                following.begin(response)
                for chunk in response.iter_bytes():
                    yield from following.read(chunk)
        except httpx.RequestError as error:
            raise unreachable(self.url, error) from error
