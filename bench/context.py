"""The next model request: scene, prompt and the body's bytes, for a window of 50 messages of spaces of any length.

The agent is a member of three spaces that differ in nothing but their length, with all but the newest message seen. The
peer is openai-agents with a windowed SQLite session, from the new message to the request (`bench/peers`).
"""

from __future__ import annotations

import asyncio
import time
from statistics import median
from typing import Any

import sqlalchemy as sa

from bench.filling import fill
from bench.gateways import new_runner
from bench.peers.environment import Unavailable
from bench.peers.process import open_peer
from bench.queries import statements
from bench.results import Result
from bench.rounds import Sampler, compare
from bench.scenes import Scene, set_scene
from bench.stage import Stage
from majlis.agents.agents import create_agent
from majlis.agents.config.config import AgentConfig
from majlis.agents.config.model import ModelObject
from majlis.foundation import open_store, owner_caller
from majlis.gateway import open_gateway
from majlis.minds.timeline.load import load_scene
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Look, Who
from majlis.models.chat.wire_format import Body
from majlis.models.port import Prompt
from majlis.settings import Settings
from majlis.spaces.members import join
from majlis.store.tables import members, messages
from majlis.store.transactions import Database, Tx
from majlis.tools.toolbox import Tools

LIMIT = 1.3
LEAST = 2.0
STATEMENTS = 8
SMALL, MIDDLE = 100, 10_000
_EACH = 20


class Asking:
    """Makes the request that a run of the agent would make first, triggered by a space's newest message."""

    def __init__(self, runner: asyncio.Runner, db: Database, agent: str) -> None:
        self._runner = runner
        self._db = db
        self._who = Who(agent, "Agent", "agent")
        self._config = AgentConfig()
        self._specs = Tools().specs(self._config)
        self._body = Body(ModelObject(provider="openai", name="any"))

    def sampler(self, space: str) -> Sampler:
        trigger = self._runner.run(self._db.read(_trigger, space, newest=True))
        request = self._runner.run(self._ask(space, trigger))
        assert request.count(b"[msg:") == self._config.window, "the whole window is shown, and nothing else"
        return lambda count: self._runner.run(self._times(space, trigger, count))

    def statements(self, space: str) -> int:
        """The worst case: the trigger has left the window, and quotes another message."""
        trigger = self._runner.run(self._db.read(_trigger, space, newest=False))
        with statements(self._db.engine) as seen:
            self._runner.run(self._ask(space, trigger))
        return len(seen)

    async def _times(self, space: str, trigger: dict[str, Any], count: int) -> list[float]:
        times = []
        for _ in range(count):
            started = time.perf_counter()
            await self._ask(space, trigger)
            times.append(time.perf_counter() - started)
        return times

    async def _ask(self, space: str, trigger: dict[str, Any]) -> bytes:
        look = Look(self._who, self._config, "run_this", trigger, space)
        scene = await self._db.snapshot(load_scene, look)
        return self._body.bytes(Prompt(perceive(scene).turns, self._specs))


def measure(stage: Stage) -> list[Result]:
    large = 100_000 if stage.quick else 1_000_000
    scene = set_scene(stage, people=1, spaces=3)
    with new_runner() as runner:
        agent = runner.run(_add_agent(scene))
        for space, count in zip(scene.spaces, (SMALL, MIDDLE, large), strict=True):
            fill(stage.engine, scene, space, count)
        db = runner.run(open_store(Settings(database_url=scene.url, data_dir=scene.folder)))
        try:
            runner.run(db.write(_seen, agent))
            asking = Asking(runner, db, agent)
            small, middle, big = map(asking.sampler, scene.spaces)
            count = asking.statements(scene.spaces[0])
            return [
                Result("statements: next model request", stage.engine, count, "statements", limit=STATEMENTS),
                _flat(stage, f"next request, {MIDDLE:,} : {SMALL} messages", middle, small),
                _flat(stage, f"next request, {large:,} : {SMALL} messages", big, small),
                *(_beside(stage, middle) if stage.engine == "sqlite" else ()),
            ]
        finally:
            runner.run(db.close())


def _flat(stage: Stage, name: str, ours: Sampler, floor: Sampler) -> Result:
    found = compare(ours, floor, stage.rounds, _EACH)
    return Result(name, stage.engine, found.ours, "ms", found.floor, found.ratio, LIMIT)


def _beside(stage: Stage, ours: Sampler) -> list[Result]:
    name = f"next request, {MIDDLE:,} : openai-agents"
    try:
        with open_peer("openai_session", str(stage.folder / "session.db"), str(MIDDLE)) as peer:
            found = compare(peer.times, ours, stage.rounds, _EACH)
    except Unavailable as error:
        alone = median(ours(stage.rounds)) * 1000
        return [Result(name, stage.engine, alone, "ms", least=LEAST, note=str(error))]
    return [Result(name, stage.engine, found.floor, "ms", peer=found.ours, ratio=found.ratio, least=LEAST)]


async def _add_agent(scene: Scene) -> str:
    gateway = await open_gateway(Settings(database_url=scene.url, data_dir=scene.folder))
    try:
        owner = await gateway.db.read(owner_caller, gateway.owner_id)
        agent = (await create_agent(gateway.db, owner, "Agent", {}))["id"]
        await gateway.db.write(_join, scene.spaces, agent)
        return agent
    finally:
        await gateway.db.close()


def _join(tx: Tx, spaces: list[str], agent: str) -> None:
    for space in spaces:
        join(tx, space, agent, "member")


def _seen(tx: Tx, agent: str) -> None:
    """Leaves the cursor where a completed run on the message before the newest would leave it."""
    newest = sa.select(sa.func.max(messages.c.seq) - 1).where(messages.c.space_id == members.c.space_id)
    mine = members.update().where(members.c.entity_id == agent)
    tx.execute(mine.values(processed_seq=newest.scalar_subquery()))


def _trigger(tx: Tx, space: str, newest: bool) -> dict[str, Any]:
    """The space's newest message, or its first one, which then quotes itself."""
    number = messages.c.seq.desc() if newest else messages.c.seq
    row = tx.execute(sa.select(messages).where(messages.c.space_id == space).order_by(number).limit(1)).one()
    return {
        "type": "space_message",
        "chainDepth": 0,
        "spaceId": space,
        "spaceName": "Space",
        "messageId": row.id,
        "senderId": row.sender_id,
        "senderName": "Person 0",
        "senderType": "human",
        "text": row.text if newest else f"see msg:{row.id}",
        "timestamp": "2026-02-18T15:07:00.000Z",
        "senderExpectsReply": False,
    }
