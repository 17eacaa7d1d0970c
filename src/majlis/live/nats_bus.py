"""The bus over NATS: calls subscribers of this process directly, and the others through the server.

The connection does not echo our own messages. While the server is unreachable it reconnects; messages published
meanwhile may be lost to other processes, whose polling of the log makes up for it within a second.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from majlis.live.bus import Handler, InProcessBus, Unsubscribe

_logger = structlog.get_logger(__name__)
_OUTGOING = 10_000
_RETRY_SECONDS = 0.5


class NatsBus:
    kind = "nats"

    def __init__(self, url: str, namespace: str) -> None:
        self._url = url
        self._prefix = f"majlis.{namespace}."
        self._local = InProcessBus()
        self._client: Client | None = None
        self._remote: dict[str, Subscription | None] = {}
        # Bounded: while the server is unreachable, the oldest messages are dropped.
        self._outgoing: deque[tuple[str, bytes]] = deque(maxlen=_OUTGOING)
        self._work = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None
        self._problem: str | None = "not connected yet"
        self._last_error = ""
        self._closing = False

    async def start(self) -> None:
        first_try = asyncio.Event()
        self._runner = asyncio.create_task(self._run(first_try), name="nats-bus")
        await first_try.wait()

    def publish(self, subject: str, payload: bytes) -> None:
        self._local.publish(subject, payload)
        self._outgoing.append((subject, payload))
        self._work.set()

    def may_be_heard(self, subject: str) -> bool:
        """Always true: other processes may subscribe to it."""
        return True

    def subscribe(self, subject: str, handler: Handler) -> Unsubscribe:
        unsubscribe_local = self._local.subscribe(subject, handler)
        if subject not in self._remote:
            self._remote[subject] = None
            self._work.set()
        return unsubscribe_local

    def problem(self) -> str | None:
        return self._problem

    async def close(self) -> None:
        self._closing = True
        if self._runner is not None:
            self._runner.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._runner
        if self._client is not None:
            await self._pump(self._client)
            with contextlib.suppress(NatsError, OSError, asyncio.TimeoutError):
                await self._client.close()

    async def _run(self, first_try: asyncio.Event) -> None:
        while True:
            try:
                client = await self._connect()
            except (NatsError, OSError, TimeoutError):
                if not first_try.is_set():
                    _logger.warning("NATS is unreachable; retrying", error=self._last_error)
                self._problem = f"cannot reach NATS ({self._last_error})"
                first_try.set()
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._client = client
            while not client.is_closed:
                self._work.clear()
                await self._pump(client)
                first_try.set()
                await self._work.wait()

    async def _connect(self) -> Client:
        client = await nats.connect(
            self._url,
            no_echo=True,
            connect_timeout=2,
            # We reconnect ourselves: the client's own loop would delay the first connection.
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0.05,
            error_cb=self._on_error,
            closed_cb=self._on_closed,
            name="majlis",
        )
        if self._problem is not None:
            _logger.info("connected to NATS")
        self._problem = None
        self._remote = dict.fromkeys(self._remote)
        return client

    async def _pump(self, client: Client) -> None:
        """Sends new subscriptions and messages to the server."""
        try:
            for subject in [subject for subject, made in self._remote.items() if made is None]:
                self._remote[subject] = await client.subscribe(self._prefix + subject, cb=self._on_message)
            while self._outgoing:
                subject, payload = self._outgoing.popleft()
                await client.publish(self._prefix + subject, payload)
        except (NatsError, OSError) as error:
            _logger.warning("sending a message to NATS failed", error=str(error))

    async def _on_message(self, message: Msg) -> None:
        self._local.publish(message.subject.removeprefix(self._prefix), message.data)

    async def _on_error(self, error: Exception) -> None:
        self._last_error = str(error) or type(error).__name__
        _logger.debug("NATS reported an error", error=self._last_error)

    async def _on_closed(self) -> None:
        if self._closing:
            return
        self._problem = "the connection to NATS is lost; reconnecting"
        _logger.warning(self._problem, error=self._last_error)
        self._work.set()
