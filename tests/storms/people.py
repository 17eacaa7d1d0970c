"""The people of a storm, and the model of its agents. Clients retry until they have an acknowledgement."""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from tests.acceptance.processes import OWNER_TOKEN
from tests.follower import Follower, StreamEnded
from tests.model_server import Asked, Reply, call, say, silent
from tests.storms.nodes import Node

TASK = re.compile(r"^(answer|ask|approve) (#\d+)$")
_THINKS_SECONDS = 1.5
_REFUSED = re.compile(r"called send_message\(.*(\"success\": ?false|→ held: )")


def careful_model(failing: list[float], source: random.Random) -> Any:
    """Does what the message asks, and nothing twice. Thinks for a while, so that faults meet runs at
    work, and fails now and then."""

    def reply(asked: Asked) -> Reply:
        thought = _later(source.random() * _THINKS_SECONDS)
        if source.random() >= failing[0]:
            return replace(next_step(asked), gate=thought)
        breaks = _later(source.random() * _THINKS_SECONDS)
        return source.choice(
            (
                Reply(status=500, text="overloaded", gate=thought),
                Reply(hang_up=True, raw=b"data: {", gate=thought),
                Reply(raw=b"<html>Bad gateway</html>", gate=thought),
                replace(next_step(asked), gate_mid=breaks, hang_up=True),
            )
        )

    return reply


def _later(seconds: float) -> asyncio.Event:
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, gate.set)
    return gate


def next_step(asked: Asked) -> Reply:
    task = TASK.match(asked.trigger_text)
    if task is None:
        return silent()
    name, tag = asked.agent, task[2]
    steps = [(f"{name} answers {tag}", say(f"{name} answers {tag}"))]
    if task[1] == "ask":
        steps.insert(0, (f"{name} asks {tag}", say(f"{name} asks {tag}", wait=True)))
    if task[1] == "approve":
        steps.insert(0, (f"{name} approve {tag}", call("approve", question=f"{name} approve {tag}")))
    shown = _shown(asked)
    return next((step for mark, step in steps if re.search(rf"{re.escape(mark)}(?!\d)", shown) is None), silent())


def _shown(asked: Asked) -> str:
    """The prompt and the successful calls of this invocation, without calls that were refused."""
    lines = [line for line in asked.text.splitlines() if _REFUSED.search(line) is None]
    made = {each["id"]: each for message in asked.messages for each in message.get("tool_calls", ())}
    for message in asked.messages:
        if message["role"] == "tool" and '"success":false' not in str(message["content"]):
            lines.append(made[message["tool_call_id"]]["function"]["arguments"])
    return "\n".join(lines)


@dataclass
class Client:
    """One person. Requests go to any server, and are repeated at another until one answers."""

    nodes: list[Node]
    source: random.Random
    http: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(
            verify=False, headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, timeout=5
        )
    )
    # Answers other than success, by status; 0 for none at all.
    refusals: dict[int, int] = field(default_factory=dict)

    async def ok(self, method: str, path: str, body: Any = None, accept: tuple[int, ...] = ()) -> Any:
        while True:
            node = self.source.choice([each for each in self.nodes if each.serves])
            try:
                answer = await self.http.request(method, f"{node.base_url}{path}", json=body)
                if answer.is_success or answer.status_code in accept:
                    return answer.json() if answer.content else None
                status = answer.status_code
                assert status == 503, f"{method} {path}: {status} {answer.text}"
                json.loads(answer.text)
            except httpx.HTTPError:
                status = 0
            self.refusals[status] = self.refusals.get(status, 0) + 1
            await asyncio.sleep(0.1 + self.source.random() * 0.3)


class SpaceFollower:
    """Follows a space for the whole storm, from server to server."""

    def __init__(self, client: Client, space_id: str) -> None:
        self._client = client
        self.space_id = space_id
        self.last_id: str | None = None
        self.last_seq: int | None = None
        self.problems: list[str] = []
        self.resyncs = 0
        self.count = 0

    async def follow(self) -> None:
        while True:
            node = self._client.source.choice([each for each in self._client.nodes if each.serves])
            path = f"{node.base_url}/api/spaces/{self.space_id}/events"
            try:
                async with Follower(self._client.http, path, self.last_id) as stream:
                    while True:
                        # A stopped server sends nothing; it would send a heartbeat every ten seconds.
                        event = await asyncio.wait_for(stream._next(), 12)
                        self._take(event.id, event.type, event.data)
            except (StreamEnded, httpx.HTTPError, TimeoutError, AssertionError):
                await asyncio.sleep(0.2)

    def _take(self, id: str, type: str, data: Any) -> None:
        self.last_id = id
        if type == "resync":
            self.resyncs += 1
            self.last_seq = None
        elif (seq := data.get("eventSeq")) is not None and type != "connected":
            self.count += 1
            if self.last_seq is not None and seq != self.last_seq + 1:
                self.problems.append(f"event {seq} of {self.space_id} came after {self.last_seq}")
            self.last_seq = seq
