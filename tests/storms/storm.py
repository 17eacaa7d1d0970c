"""One storm: two servers and a worker on PostgreSQL and NATS, people who post, faults, then calm and the account."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import asyncpg

from tests.cli.processes import Commands
from tests.conditions import until
from tests.database_proxy import DatabaseProxy
from tests.model_server import ModelServer
from tests.nats_servers import NatsServer
from tests.storms.account import problems, unfinished
from tests.storms.network import Host
from tests.storms.nodes import Node
from tests.storms.people import Client, SpaceFollower, careful_model

_APPROVE = {"type": "space", "name": "approve", "ui": "approval", "execution": {"timeoutSeconds": 5}}
# Their names, and how many seconds their clocks are ahead.
_NODES = (("serve-1", 0), ("serve-2", -100), ("worker", 100))
_LIMITS = {"waitSeconds": 5, "attempts": 6, "steps": 50}


@dataclass
class Report:
    """`broken` is empty if every promise was kept."""

    broken: list[str]
    faults: Counter[str]
    messages: int
    runs: int
    events: int
    refusals: dict[int, int]
    # Seconds from the end of the faults until everything had ended.
    recovery_seconds: float
    # Seconds from a kill until a run of the killed process went on elsewhere.
    take_overs: list[float] = field(default_factory=list)


class Storm:
    def __init__(
        self,
        database_url: str,
        nats: NatsServer,
        commands: Commands,
        folder: Path,
        seed: int,
        crashes: bool = True,
        hosts: Sequence[Host] = (),
    ) -> None:
        """With three `hosts`, each node has one, and their network fails too."""
        self._url = database_url
        self._hosts = hosts
        self._address = hosts[0].gateway if hosts else "127.0.0.1"
        self._nats = nats
        self._commands = commands
        self._folder = folder
        self._random = random.Random(seed)
        self._faults: Counter[str] = Counter()
        # False if PostgreSQL is shared with others.
        self._crashes = crashes
        self._failing = [0.1]
        self._sent: dict[str, tuple[str, str]] = {}
        self._agents: dict[str, str] = {}
        self._killed_at: float | None = None
        self._take_overs: list[float] = []

    async def run(self, seconds: float, least: int, pace: float) -> Report:
        """For so many seconds, and at least so many messages; faults come after `pace` seconds on average."""
        model = ModelServer(careful_model(self._failing, random.Random(self._random.random())), self._address)
        async with model, DatabaseProxy(self._url, self._address) as self._proxy:
            self._nodes = [
                Node(self._commands, name, self._folder, self._proxy.url, self._nats.url, clock, host)
                for (name, clock), host in zip_longest(_NODES, self._hosts)
            ]
            try:
                return await self._blow(model, seconds, least, pace)
            finally:
                for node in self._nodes:
                    await node.end()

    async def _blow(self, model: ModelServer, seconds: float, least: int, pace: float) -> Report:
        self._nodes[0].start()
        await self._nodes[0].until_ready()
        for node in self._nodes[1:]:
            node.start()
        client = Client(self._nodes, self._random)
        spaces = await self._found(client, model)
        followers = [SpaceFollower(client, space, self._taken_over) for space in spaces]
        background = [asyncio.create_task(each.follow()) for each in followers]
        background.append(asyncio.create_task(self._answer(client)))
        ends_at = time.monotonic() + seconds
        talking = asyncio.create_task(self._talk(client, spaces, ends_at, least))
        await self._make_faults(talking, pace)
        calm_at = time.monotonic()
        await talking
        db = await asyncpg.connect(self._url)
        try:
            broken = await self._until_quiet(db)
            recovery = time.monotonic() - calm_at
            broken += await self._streams(db, followers)
            broken += await problems(db, self._sent, self._agents)
            runs = await db.fetchval("SELECT count(*) FROM runs")
        finally:
            await db.close()
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await client.http.aclose()
        events = sum(each.count for each in followers)
        return Report(
            broken, self._faults, len(self._sent), runs, events, client.refusals, recovery, sorted(self._take_overs)
        )

    async def _found(self, client: Client, model: ModelServer) -> list[str]:
        for name in ("Ada", "Ben"):
            config = {"model": model.model, "tools": [_APPROVE], "limits": _LIMITS}
            self._agents[name] = (await client.ok("POST", "/api/agents", {"name": name, "config": config}))["id"]
        return [await self._new_space(client, name) for name in ("Working", "Chatting")]

    async def _new_space(self, client: Client, name: str) -> str:
        space: str = (await client.ok("POST", "/api/spaces", {"name": name}))["id"]
        for agent in self._agents.values():
            await client.ok("POST", f"/api/spaces/{space}/members", {"entityId": agent})
        return space

    async def _talk(self, client: Client, spaces: list[str], ends_at: float, least: int) -> None:
        n = 0
        while time.monotonic() < ends_at or len(self._sent) < least:
            task = self._random.choice(("answer", "answer", "approve"))
            await self._say(client, self._random.choice(spaces), f"{task} #{n}")
            if n % 6 == 0:
                # Any message in a space answers a question there, so each question has a space of its own.
                await self._say(client, await self._new_space(client, f"Asking {n}"), f"ask #{n + 1}")
            n += 2
            await asyncio.sleep(self._random.random() * 0.6)

    async def _say(self, client: Client, space: str, text: str, **more: Any) -> None:
        client_id = f"storm-{len(self._sent)}"
        self._sent[client_id] = (text, "")
        body = {"text": text, "clientId": client_id, **more}
        message = await client.ok("POST", f"/api/spaces/{space}/messages", body)
        self._sent[client_id] = (text, message["id"])

    async def _answer(self, client: Client) -> None:
        """Approves cards, at about the time when they expire."""
        seen: set[str] = set()
        while True:
            await asyncio.sleep(0.5)
            for each in await client.ok("GET", "/api/tool-calls"):
                if each["toolCallId"] not in seen and self._random.random() < 0.5:
                    seen.add(each["toolCallId"])
                    body = {"toolCallId": each["toolCallId"], "result": True}
                    await client.ok("POST", f"/api/runs/{each['runId']}/tool-results", body, accept=(404, 409))

    async def _make_faults(self, talking: asyncio.Task[None], pace: float) -> None:
        faults: dict[str, Callable[[], Awaitable[None]]] = {
            "kill -9": self._kill, "SIGSTOP": self._stop, "NATS restart": self._restart_nats,
            "connections cut": self._cut,
        }  # fmt: skip
        if self._crashes:
            faults["PostgreSQL crash"] = self._crash
        if self._hosts:
            faults |= {"partition": self._part, "loss one way": self._lose, "slow link": self._slow}
        while not talking.done():
            await asyncio.sleep(self._random.random() * 2 * pace)
            name = self._random.choice(list(faults))
            self._faults[name] += 1
            await faults[name]()
        self._failing[0] = 0.0
        for node in self._nodes:
            await node.ensure()

    async def _kill(self) -> None:
        node = self._random.choice(self._nodes)
        if node.running:
            await node.kill()
            self._killed_at = time.monotonic()
            await asyncio.sleep(self._random.random() * 2)
        node.start()

    def _taken_over(self) -> None:
        """The first one after a kill."""
        if self._killed_at is not None:
            self._take_overs.append(time.monotonic() - self._killed_at)
            self._killed_at = None

    async def _stop(self) -> None:
        node = self._random.choice(self._nodes)
        if node.running:
            node.stop()
            await asyncio.sleep(self._random.random() * 3)
            node.go_on()

    async def _restart_nats(self) -> None:
        await asyncio.to_thread(self._nats.stop)
        await asyncio.sleep(self._random.random() * 2)
        await asyncio.to_thread(self._nats.start)

    async def _cut(self) -> None:
        self._proxy.cut()
        await asyncio.sleep(self._random.random() * 2)
        self._proxy.restore()

    async def _part(self) -> None:
        """Now and then for longer than a lease."""
        host = self._random.choice(self._hosts)
        host.unplug()
        longest = 40 if self._random.random() < 0.1 else 4
        await asyncio.sleep(self._random.random() * longest)
        host.plug_in()

    async def _lose(self) -> None:
        host = self._random.choice(self._hosts)
        self._random.choice((host.lose_incoming, host.lose_outgoing))()
        await asyncio.sleep(self._random.random() * 4)
        host.lose_nothing()

    async def _slow(self) -> None:
        host = self._random.choice(self._hosts)
        host.slow_down()
        await asyncio.sleep(self._random.random() * 4)
        host.speed_up()

    async def _crash(self) -> None:
        """One server process dies, so PostgreSQL ends all connections and recovers from its log."""
        await until(self._answers)
        db = await asyncpg.connect(self._url)
        pid = await db.fetchval("SELECT pg_backend_pid()")
        os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            db.terminate()
        await until(self._answers)

    async def _answers(self) -> bool:
        try:
            db = await asyncpg.connect(self._url, timeout=5)
            # The server may be on its way down: it takes new connections for a moment and then ends them all.
            await db.close()
        except (asyncpg.PostgresError, OSError):
            return False
        return True

    async def _until_quiet(self, db: asyncpg.Connection) -> list[str]:
        async def quiet() -> bool:
            for node in self._nodes:
                await node.ensure()
            return not await unfinished(db)

        try:
            await until(quiet, patience=120)
        except TimeoutError:
            return [f"stuck: {await unfinished(db)}"]
        return []

    async def _streams(self, db: asyncpg.Connection, followers: list[SpaceFollower]) -> list[str]:
        async def complete(follower: SpaceFollower) -> bool:
            head = await db.fetchval("SELECT event_seq FROM spaces WHERE id = $1", follower.space_id)
            return follower.last_seq is None or follower.last_seq >= head

        found = []
        for follower in followers:
            found += follower.problems
            try:
                await until(lambda follower=follower: complete(follower), patience=60)  # type: ignore[misc]
            except TimeoutError:
                found.append(f"the stream of {follower.space_id} stopped at {follower.last_seq}")
        return found
