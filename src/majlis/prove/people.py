"""People and their clients, outside the nodes: they post, retry, answer questions, cancel runs and follow streams."""

from __future__ import annotations

import asyncio
import functools
import random
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from majlis.cards.answer import submit_tool_result
from majlis.entities.caller import Caller
from majlis.errors import MajlisError
from majlis.gateway import Gateway
from majlis.inbox.deliver import post_message
from majlis.live import log
from majlis.prove.event_loop import Machine, SimulatedLoop
from majlis.prove.node import Node
from majlis.runs.end.cancel import cancel_run
from majlis.spaces.history import find_by_client_id
from majlis.spaces.post import Draft, Repeated

T = TypeVar("T")
_PATIENCE_SECONDS = 3.0


class Unreachable(Exception):
    """No answer came; the request may or may not have been carried out."""


@dataclass
class Edge:
    """The way from clients to nodes. Requests and answers take time and get lost."""

    loop: SimulatedLoop
    outside: Machine
    random: random.Random
    nodes: Callable[[], list[Node]]
    loss: float = 0.0

    async def request(self, work: Callable[[Gateway], Awaitable[T]]) -> T:
        """Tries one node once."""
        nodes = [node for node in self.nodes() if node.alive and node.gateway is not None]
        if not nodes:
            await asyncio.sleep(0.2)
            raise Unreachable
        node = self.random.choice(nodes)
        answer: asyncio.Future[T] = self.loop.create_future()
        if self.random.random() >= self.loss:
            self._later(node, lambda: node.spawn(self._serve(node, work, answer)))
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await answer
        except (TimeoutError, OSError):
            raise Unreachable from None

    async def _serve(self, node: Node, work: Callable[[Gateway], Awaitable[T]], answer: asyncio.Future[T]) -> None:
        assert node.gateway is not None
        result: Any = None
        failure: Exception | None = None
        try:
            result = await work(node.gateway)
        except Exception as error:
            failure = error
        if self.random.random() >= self.loss:
            self._later(self.outside, lambda: _settle(answer, result, failure))

    def _later(self, machine: Machine, work: Callable[[], object]) -> None:
        self.loop.call_later(self.random.random() * 0.02, work, context=machine.context)


def _settle(answer: asyncio.Future[Any], result: Any, failure: Exception | None) -> None:
    if answer.done():
        return
    if isinstance(failure, MajlisError):
        answer.set_exception(failure)
    elif failure is not None:
        # The HTTP edge answers with 503, and clients try again.
        answer.set_exception(OSError(repr(failure)))
    else:
        answer.set_result(result)


@dataclass
class Sent:
    """A message that a person has posted: what it asks, and the ids that the acknowledgements named."""

    sender: Caller
    space_id: str
    text: str
    client_id: str
    acknowledged: list[str] = field(default_factory=list)


class People:
    def __init__(self, edge: Edge, source: random.Random) -> None:
        self._edge = edge
        self._random = source
        self.sent: list[Sent] = []
        # Messages that are not acknowledged yet.
        self.busy = 0

    async def say(self, sender: Caller, space_id: str, text: str, reply_to: str | None = None) -> None:
        """Posts until a node acknowledges the message, always with the same client id; sometimes once more. Each text
        is different."""
        text = text if "#" in text else f"{text} {len(self.sent)}"
        sent = Sent(sender, space_id, text, f"client-{len(self.sent)}")
        self.sent.append(sent)
        draft = Draft(text, sent.client_id, reply_to)
        more = 1 if self._random.random() < 0.2 else 0
        self.busy += 1
        while len(sent.acknowledged) <= more:
            try:
                message = await self._edge.request(lambda gateway: _post(gateway, sender, space_id, draft))
                sent.acknowledged.append(message["id"])
            except Unreachable:
                await asyncio.sleep(self._random.random())
        self.busy -= 1

    async def answer_card(self, caller: Caller, run_id: str, call_id: str, approved: bool) -> bool:
        return await self._try(lambda gateway: gateway.db.write(submit_tool_result, caller, run_id, call_id, approved))

    async def cancel(self, caller: Caller, run_id: str) -> bool:
        return await self._try(lambda gateway: gateway.db.write(cancel_run, caller, run_id))

    async def _try(self, work: Callable[[Gateway], Awaitable[Any]]) -> bool:
        """Sends a request once. A refusal or a lost request is fine."""
        try:
            await self._edge.request(work)
        except (Unreachable, MajlisError):
            return False
        return True


async def _post(gateway: Gateway, sender: Caller, space_id: str, draft: Draft) -> Any:
    """Posts as the HTTP edge does."""
    try:
        return await gateway.db.write_brief(post_message, sender, space_id, draft)
    except Repeated:
        return await gateway.db.read(find_by_client_id, sender, space_id, draft.client_id or "")


class Follower:
    """A client that follows a space and reconnects with its last event id."""

    def __init__(self, edge: Edge, caller: Caller, space_id: str) -> None:
        self._edge = edge
        self._caller = caller
        self.space_id = space_id
        self._last_id: str | None = None
        self._connection = 0
        # The state that was loaded with the first connection contains the events up to here.
        self._loaded = 0
        self._follows = False
        self.last_seq: int | None = None
        self.problems: list[str] = []
        # (number, event as sent)
        self.events: dict[int, str] = {}

    async def follow(self) -> None:
        """Follows forever. A connection breaks when its node dies, or at random."""
        while True:
            self._connection += 1
            connection, last_id, on = self._connection, self._last_id, list[Node]()
            try:
                await self._edge.request(functools.partial(self._open, connection, last_id, on))
            except (Unreachable, MajlisError):
                await asyncio.sleep(0.3)
                continue
            await self._until_broken(connection, on)

    async def _until_broken(self, connection: int, on: list[Node]) -> None:
        loop = self._edge.loop
        ends_at = loop.time() + 2 + self._edge.random.random() * 40
        while self._connection == connection and on[0].alive and loop.time() < ends_at:  # noqa: ASYNC110
            await asyncio.sleep(0.5)

    async def _open(self, connection: int, last_id: str | None, on: list[Node], gateway: Gateway) -> None:
        """On the node: passes the stream on to the client, in order."""
        loop = self._edge.loop
        assert isinstance(loop.here, Node)
        on.append(loop.here)

        async def state() -> str:
            heads = await gateway.db.read(log.heads, [self.space_id])
            return orjson.dumps({"head": heads[self.space_id]}).decode()

        stream = await gateway.hub.open_space(self._caller, self.space_id, last_id, state)
        assert stream is not None

        async def pump() -> None:
            async for chunk in stream.chunks():
                loop.call_later(0.01, self._hear, connection, chunk, context=self._edge.outside.context)
                if self._connection != connection:
                    break
            gateway.hub.leave(stream)

        on[0].spawn(pump())

    def _hear(self, connection: int, chunk: bytes) -> None:
        if connection != self._connection:
            return
        for part in chunk.decode().split("\n\n"):
            lines = dict(line.split(": ", 1) for line in part.splitlines() if not line.startswith(":"))
            if not lines:
                continue
            self._last_id = lines["id"]
            self._take(lines["event"], lines["data"])

    def _take(self, type: str, data: str) -> None:
        found = orjson.loads(data)
        if type == "resync":
            # The client loads the space again, with a new connection.
            self._connection += 1
            self._last_id, self.last_seq, self._follows = None, None, False
        elif type == "connected":
            self.last_seq = found["head"] if self.last_seq is None else self.last_seq
            self._loaded = found["head"]
        elif "eventSeq" in found:
            self._take_logged(found["eventSeq"], data)

    def _take_logged(self, seq: int, data: str) -> None:
        assert self.last_seq is not None
        self.events[seq] = data
        if seq <= self.last_seq and seq <= self._loaded and not self._follows:
            # The loaded state contains the events between the start of the stream and the load.
            return
        self._follows = True
        if seq != self.last_seq + 1:
            self.problems.append(f"event {seq} came after {self.last_seq}")
        self.last_seq = seq

    def is_complete(self, observer: sqlite3.Connection) -> bool:
        head = observer.execute("SELECT event_seq FROM spaces WHERE id = ?", (self.space_id,)).fetchone()[0]
        return self.last_seq is not None and self.last_seq >= head
