"""One storm: two servers and a worker on PostgreSQL and NATS, people who post, faults, then calm and the account."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import asyncpg

from tests.cli.processes import Commands
from tests.conditions import until
from tests.database_proxy import DatabaseProxy
from tests.model_server import ModelServer
from tests.nats_servers import NatsServer
from tests.storms.account import count_resumed, keep, problems, progress, unfinished
from tests.storms.network import Host
from tests.storms.nodes import Node
from tests.storms.people import Client, SpaceFollower, careful_model
from tests.storms.take_overs import TakeOver, TakeOvers

_APPROVE = {"type": "space", "name": "approve", "ui": "approval", "execution": {"timeoutSeconds": 5}}
# Their names, and how many seconds their clocks are ahead.
_NODES = (("serve-1", 0), ("serve-2", -100), ("worker", 100))
# Longer than a lease, a restart on a busy machine and the longest back-off of a failed event together.
_STANDSTILL_SECONDS = 400
_PATIENCE_SECONDS = 300
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
    # The takeovers of runs whose process was killed; and the number of all takeovers, also from processes that were
    # stopped or cut off.
    take_overs: list[TakeOver]
    taken_over: int


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
        # Half of the storms: as on machines of their own, no process sees whether another one lives.
        self._apart = bool(hosts) and seed % 2 == 1
        self._take_overs = TakeOvers(database_url)

    async def run(self, seconds: float, least: int, pace: float) -> Report:
        """For so many seconds, and at least so many messages; faults come after `pace` seconds on average."""
        model = ModelServer(careful_model(self._failing, random.Random(self._random.random())), self._address)
        async with model, DatabaseProxy(self._url, self._address) as self._proxy:
            self._nodes = [
                Node(self._commands, name, self._folder, self._proxy.url, self._nats.url, clock, host, self._apart)
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
        followers = [SpaceFollower(client, space) for space in spaces]
        background = [asyncio.create_task(each.follow()) for each in followers]
        background += [asyncio.create_task(self._answer(client)), asyncio.create_task(self._take_overs.watch())]
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
            runs, taken_over = await db.fetchval("SELECT count(*) FROM runs"), await count_resumed(db)
            if broken:
                await keep(db, self._folder)
        finally:
            await db.close()
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await client.http.aclose()
        events = sum(each.count for each in followers)
        return Report(
            broken, self._faults, len(self._sent), runs, events, client.refusals, recovery, self._take_overs.seen,
            taken_over,
        )  # fmt: skip

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
            owner = node.owner
            await node.kill()
            await self._take_overs.killed(owner)
            await asyncio.sleep(self._random.random() * 2)
        node.start()

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
        victim, witness = await asyncpg.connect(self._url), await asyncpg.connect(self._url)
        os.kill(await victim.fetchval("SELECT pg_backend_pid()"), signal.SIGKILL)
        victim.terminate()
        # It takes new connections for a moment before it ends them all.
        await until(witness.is_closed, _PATIENCE_SECONDS)
        await until(self._answers, _PATIENCE_SECONDS)

    async def _answers(self) -> bool:
        try:
            db = await asyncpg.connect(self._url, timeout=5)
            await db.close()
        except (asyncpg.PostgresError, OSError):
            return False
        return True

    async def _until_quiet(self, db: asyncpg.Connection) -> list[str]:
        async def quiet() -> bool:
            for node in self._nodes:
                await node.ensure()
            return not await unfinished(db)

        if await self._while_it_moves(quiet, lambda: progress(db)):
            return []
        return [f"stuck: {await unfinished(db)}"]

    async def _while_it_moves(
        self, holds: Callable[[], Awaitable[bool]], mark: Callable[[], Awaitable[object]]
    ) -> bool:
        """Waits until it holds, on a slow machine too. False if nothing has moved for long."""
        last, since = None, time.monotonic()
        while not await holds():
            now = await mark()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > _STANDSTILL_SECONDS:
                return False
            await asyncio.sleep(0.1)
        return True

    async def _streams(self, db: asyncpg.Connection, followers: list[SpaceFollower]) -> list[str]:
        async def complete(follower: SpaceFollower) -> bool:
            head = await db.fetchval("SELECT event_seq FROM spaces WHERE id = $1", follower.space_id)
            return follower.last_seq is None or follower.last_seq >= head

        found = []
        for follower in followers:
            found += follower.problems
            if not await self._while_it_moves(partial(complete, follower), partial(_count, follower)):
                found.append(f"the stream of {follower.space_id} stopped at {follower.last_seq}")
        return found


async def _count(follower: SpaceFollower) -> int:
    return follower.count
