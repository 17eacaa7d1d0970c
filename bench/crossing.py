"""Messages that cross (E8): spaces with agents and two people in simulated time, with the guard and without.

The same seed gives the same conversations. Each agent answers each person's message once. Its model takes 2 to 12 s for
every request. If its message is held, it sends it again, or, in one of three cases, stays silent because the others
have said it. `python -m bench.crossing` prints the table.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from majlis import clock
from majlis.agents.agents import create_agent
from majlis.foundation import owner_caller
from majlis.inbox.deliver import post_message
from majlis.models import port
from majlis.models.demo.outline import Outline
from majlis.prove.bus import Network
from majlis.prove.changes import History
from majlis.prove.disk import gateway_disk
from majlis.prove.event_loop import Machine, SimulatedLoop
from majlis.prove.node import Node
from majlis.prove.world import EPOCH_MILLIS, World, world_of
from majlis.spaces.members import add_member
from majlis.spaces.post import Draft
from majlis.spaces.spaces import create_space
from majlis.store import ids
from majlis.store.tables import deliveries, entities, messages, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Database, Tx

ROOMS = 10
_SILENT = 1 / 3
_USAGE = port.Usage(100, 0, 20)


class Answering:
    """Answers each person once, after 2 to 12 s. Notes when each request began."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.requests = 0
        # By agent and trigger: when its requests began.
        self.began: dict[tuple[str, str], list[int]] = {}

    def get(self, _choice: object) -> Answering:
        return self

    async def context(self, _choice: object) -> port.Context:
        return port.UNLIMITED

    async def stream(self, prompt: port.Prompt) -> AsyncGenerator[port.ModelEvent]:
        self.requests += 1
        [seen] = (prompt.outline() if prompt.outline is not None else Outline()).events
        last = prompt.turns[-1]
        held = isinstance(last, port.Result) and '"held"' in last.content
        self.began.setdefault((seen.name, str(seen.event.get("messageId"))), []).append(clock.now())
        await asyncio.sleep(2 + 10 * self._random.random())
        asked = seen.event.get("senderType") == "human" and (held or not isinstance(last, port.Result))
        if not asked or (held and self._random.random() < _SILENT):
            yield port.Finished(port.Answer("", (), _USAGE))
            return
        call = port.Call(f"call_{self.requests}", "send_message", orjson.dumps({"text": f"{seen.name} says"}).decode())
        yield port.CallStarted(0, call.id, call.name)
        yield port.CallDelta(0, call.arguments)
        yield port.Finished(port.Answer("", (call,), _USAGE))


class Talking(Answering):
    """Answers every message, of agents too, and sends again what is held."""

    async def stream(self, prompt: port.Prompt) -> AsyncGenerator[port.ModelEvent]:
        self.requests += 1
        last = prompt.turns[-1]
        await asyncio.sleep(2 + 10 * self._random.random())
        calls: tuple[port.Call, ...] = ()
        if not isinstance(last, port.Result) or '"held"' in last.content:
            calls = (port.Call(f"call_{self.requests}", "send_message", '{"text": "What do you all think?"}'),)
            yield port.CallStarted(0, calls[0].id, calls[0].name)
            yield port.CallDelta(0, calls[0].arguments)
        yield port.Finished(port.Answer("", calls, _USAGE))


@dataclass
class Room:
    agents: int
    guarded: bool
    posted: int = 0
    stale: int = 0
    crossed: int = 0
    requests: int = 0
    last_answer: list[float] = field(default_factory=list)

    def line(self) -> str:
        cells = (
            str(self.agents),
            "on" if self.guarded else "off",
            f"{self.posted / ROOMS:.1f}",
            f"{self.stale / self.posted:.0%}",
            f"{self.crossed / self.posted:.0%}",
            f"{self.requests / ROOMS:.1f}",
            f"{sum(self.last_answer) / len(self.last_answer):.1f}",
        )
        return f"| {' | '.join(cells)} |"


def measure(agents: int, guarded: bool) -> Room:
    room = Room(agents, guarded)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROOMS):
            _simulate(room, f"{agents}:{number}", Path(folder))
    return room


def talkers(agents: int, guarded: bool) -> int:
    """Model requests after one message of a person, among agents that answer every message."""
    room = Room(agents, guarded)
    with tempfile.TemporaryDirectory() as folder:
        _simulate(room, f"{agents}:talkers", Path(folder), Talking)
    return room.requests


def _simulate(room: Room, seed: str, folder: Path, kind: type[Answering] = Answering) -> None:
    world = world_of(("timeline",), folder)
    disk = gateway_disk(folder, world.content)
    loop = SimulatedLoop(seed, EPOCH_MILLIS, Machine("people"))
    clock.simulate(loop.now_millis)
    model: Any = kind(seed)
    network = Network(loop, random.Random(seed))
    node = Node("node", loop, network, disk, seed, History(), model, world.owner_id, lambda _: "none", lambda _: None)
    try:
        node.boot()
        loop.run_until_complete(loop.create_task(_talk(room, world, node, model, seed), context=node.context.copy()))
    finally:
        node.db.drop()
        clock.simulate(None)
        ids.use(None)
        loop.dispose()


async def _talk(room: Room, world: World, node: Node, model: Answering, seed: str) -> None:
    draw = random.Random(f"{seed}:people")
    await _until(lambda: node.gateway is not None)
    assert node.gateway is not None
    assert node.gateway.worker is not None
    node.gateway.worker._slots = 100
    db = node.gateway.db
    space = await _furnish(db, world, room)
    first = await db.write(post_message, world.people[0], space, Draft("What do you think?"))
    started = clock.parse_iso(first["createdAt"])
    if type(model) is Answering:
        # The other person adds something while the agents compose.
        await asyncio.sleep(1 + 8 * draw.random())
        await db.write(post_message, world.people[1], space, Draft("And what does it cost?"))
    await _until(lambda: db.read(_is_quiet))
    room.requests += model.requests
    if type(model) is Answering:
        await db.read(_count, room, space, model, started)


async def _until(holds: Callable[[], Any]) -> None:
    """Simulated seconds cost nothing."""
    while True:
        answer = holds()
        if await answer if isinstance(answer, Awaitable) else answer:
            return
        await asyncio.sleep(0.5)


async def _furnish(db: Database, world: World, room: Room) -> str:
    owner = await db.read(owner_caller, world.owner_id)
    space = (await db.write(create_space, owner, "Room"))["id"]
    for person in world.people:
        await db.write(add_member, owner, space, person.id)
    for number in range(room.agents):
        agent = await create_agent(db, owner, f"Agent {number}", {"guard": room.guarded})
        await db.write(add_member, owner, space, agent["id"])
    return str(space)


def _is_quiet(tx: Tx) -> bool:
    working = sa.or_(sa.exists().where(deliveries.c.state == "pending"), sa.exists().where(NOT_OVER))
    return not tx.execute(sa.select(working)).scalar_one()


def _count(tx: Tx, room: Room, space: str, model: Answering, started: int) -> None:
    found = tx.all(
        sa.select(messages, runs.c.trigger, entities.c.name, entities.c.type)
        .join(entities, entities.c.id == messages.c.sender_id)
        .outerjoin(runs, runs.c.id == messages.c.run_id)
        .where(messages.c.space_id == space)
        .order_by(messages.c.seq)
    )
    for row in found:
        if row.type != "agent":
            continue
        began = max(at for at in model.began[row.name, row.trigger["messageId"]] if at < row.created_at)
        between = [each for each in found if began < each.created_at and each.seq < row.seq]
        room.posted += 1
        room.crossed += bool(row.crossed)
        room.stale += any(_is_relevant(each, row) for each in between)
    answers = [row.created_at for row in found if row.type == "agent"]
    room.last_answer.append((max(answers) - started) / 1000)


def _is_relevant(earlier: sa.Row[Any], message: sa.Row[Any]) -> bool:
    if earlier.type == "human":
        return True
    if earlier.sender_id == message.sender_id:
        return bool(earlier.run_id != message.run_id)
    return bool(earlier.cause_id == message.cause_id)


def main() -> None:
    logging.disable(logging.WARNING)
    print("| agents | guard | messages posted | stale | marked | model requests | seconds to the last answer |")
    print("|---|---|---|---|---|---|---|")
    if sys.argv[1:] == ["talkers"]:
        for guarded in (False, True):
            print(f"six talkers, guard {'on' if guarded else 'off'}: {talkers(6, guarded)} requests", flush=True)
        return
    counts = [int(each) for each in sys.argv[1:]] or range(2, 7)
    for agents in counts:
        for guarded in (False, True):
            print(measure(agents, guarded).line(), flush=True)


if __name__ == "__main__":
    main()
