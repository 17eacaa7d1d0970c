"""A gateway in this process, with agents at work in a space: its worker runs, without HTTP."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import uvloop

from bench.models import OneModel
from bench.stage import Stage
from majlis.agents.agents import create_agent
from majlis.entities.caller import Caller
from majlis.entities.entities import add_entity
from majlis.foundation import owner_caller
from majlis.gateway import Gateway, open_gateway
from majlis.inbox.deliver import post_message
from majlis.models.port import Model
from majlis.settings import Settings
from majlis.spaces.members import add_member
from majlis.spaces.post import Draft
from majlis.spaces.shapes import MessageJson, Triggers
from majlis.spaces.spaces import create_space
from majlis.store.tables import runs
from majlis.store.transactions import Tx

_PATIENCE_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Office:
    """One person and some agents in one space or several, where mentioned agents answer."""

    gateway: Gateway
    person: Caller
    agents: tuple[str, ...]
    spaces: tuple[str, ...]

    @property
    def space(self) -> str:
        return self.spaces[0]

    async def say(self, text: str, space: str | None = None) -> MessageJson:
        """Posts a message to all of the agents. Returns when it is committed."""
        return await self.gateway.db.write_brief(self._say, text, space or self.space)

    def _say(self, tx: Tx, text: str, space: str) -> MessageJson:
        return post_message(tx, self.person, space, Draft(text, mentions=list(self.agents)))

    async def say_to_all(self, text: str, space: str | None = None) -> MessageJson:
        """Without mentions, as in a space where all agents respond."""
        return await self.gateway.db.write(post_message, self.person, space or self.space, Draft(text))

    async def until_ended(self, count: int) -> None:
        """Returns when this many runs have ended as expected."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while (left := count - (ended := await self.gateway.db.read(_by_status)).get("completed", 0)) > 0:
                assert not ended.get("failed"), "a run has failed: see the log"
                # Counting reads all runs, so it is done rarely while many are left.
                await asyncio.sleep(min(0.1, 0.002 + left * 0.0005))


def new_runner() -> asyncio.Runner:
    """The loop that `majlis serve` runs on."""
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


@contextmanager
def open_office(
    stage: Stage,
    runner: asyncio.Runner,
    url: str,
    model: Model | dict[str, Any],
    agents: int = 1,
    triggers: Triggers = "mentioned",
    spaces: int = 1,
    **config: Any,
) -> Iterator[Office]:
    """Every agent is given `model`: an object of this process, or what a config says of a real one. All agents are
    members of every space."""
    settings = Settings(database_url=url, data_dir=Path(tempfile.mkdtemp(dir=stage.folder)), port=0, demo=False)
    gateway = runner.run(open_gateway(settings))
    try:
        if isinstance(model, dict):
            config["model"] = model
        else:
            gateway.engine.models = OneModel(model)
        office = runner.run(_furnish(gateway, agents, triggers, spaces, config))
        runner.run(gateway.start())
        yield office
    finally:
        runner.run(gateway.close())


async def _furnish(gateway: Gateway, agents: int, triggers: Triggers, spaces: int, config: dict[str, Any]) -> Office:
    owner = await gateway.db.read(owner_caller, gateway.owner_id)
    made = [(await create_agent(gateway.db, owner, f"Agent {n}", config))["id"] for n in range(agents)]
    person, rooms = await gateway.db.write(_people, made, triggers, spaces)
    return Office(gateway, person, tuple(made), tuple(rooms))


def _people(tx: Tx, agents: list[str], triggers: Triggers, spaces: int) -> tuple[Caller, list[str]]:
    entity = add_entity(tx, "human", "Person")
    person = Caller(entity["id"], entity["name"], "human", "member", "bench")
    # Only an admin may add an agent that remembers across spaces.
    admin = replace(person, role="admin")
    rooms = [create_space(tx, person, f"Office {n}", triggers=triggers)["id"] for n in range(spaces)]
    for room in rooms:
        for agent in agents:
            add_member(tx, admin, room, agent)
    return person, rooms


def _by_status(tx: Tx) -> dict[str, int]:
    counts = sa.select(runs.c.status, sa.func.count().label("how_many")).group_by(runs.c.status)
    return {row.status: row.how_many for row in tx.all(counts)}
