"""The gateways that schedules start from: a few shapes of people, agents and spaces, built once and then copied."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from majlis import clock
from majlis.agents.agents import create_agent
from majlis.entities.caller import Caller
from majlis.entities.entities import add_entity
from majlis.foundation import OWNER_TOKEN_ID, set_up
from majlis.prove.changes import CHANGES, History, write_triggers
from majlis.prove.database import SimulatedDatabase
from majlis.prove.disk import Content, Disk
from majlis.prove.event_loop import Machine, SimulatedLoop
from majlis.prove.service import python_tool
from majlis.spaces.members import add_member
from majlis.spaces.spaces import create_space
from majlis.store import ids
from majlis.store.migrate import migrate

T = TypeVar("T")
EPOCH_MILLIS = 1_900_000_000_000
_PEOPLE = ("Husam", "Sara")
_NAMES = ("Ada", "Ben", "Cleo")
SHAPES: tuple[tuple[str, ...], ...] = (
    ("timeline",),
    ("timeline",),
    ("timeline", "timeline"),
    ("consciousness",),
    ("roles",),
    ("timeline", "consciousness"),
    ("roles", "timeline"),
    ("timeline", "timeline", "roles"),
)


@dataclass(frozen=True)
class World:
    """The first space is where agents ask and wait."""

    content: Content
    owner_id: str
    people: tuple[Caller, ...]
    agents: dict[str, str]
    spaces: tuple[str, ...]
    minds: dict[str, str]


_worlds: dict[tuple[str, ...], World] = {}


def world_of(shape: tuple[str, ...], folder: Path) -> World:
    if shape not in _worlds:
        empty = folder / "empty.db"
        if not empty.exists():
            _in_simulation(empty, migrate)
        path = folder / "template.db"
        path.write_bytes(empty.read_bytes())
        (owner_id, people, agents, spaces), content = _in_simulation(path, lambda db: _fill(db, shape))
        minds = dict(zip(agents, shape, strict=False))
        _worlds[shape] = World(content, owner_id, people, agents, spaces, minds)
    return _worlds[shape]


def _in_simulation(path: Path, work: Callable[[SimulatedDatabase], Coroutine[Any, Any, T]]) -> tuple[T, Content]:
    """Builds it in a file that has the table of changes, which triggers fill later."""
    is_new = not path.exists()
    disk = Disk(path)
    if is_new:
        disk.observer.execute(CHANGES)
    loop = SimulatedLoop("template", EPOCH_MILLIS - 60_000, Machine("template"))
    clock.simulate(loop.now_millis)
    ids.use(ids.Generator(1))
    db = SimulatedDatabase("template", disk, loop, "template", History(), lambda: "none")
    try:
        result = loop.run_until_complete(work(db))
        if not is_new:
            write_triggers(disk.observer)
        return result, disk.content()
    finally:
        db.drop()
        disk.close()
        clock.simulate(None)
        ids.use(None)
        loop.dispose()


Filled = tuple[str, tuple[Caller, ...], dict[str, str], tuple[str, ...]]


async def _fill(db: SimulatedDatabase, shape: tuple[str, ...]) -> Filled:
    _, owner_id = await db.write(set_up, b"prove" * 8, "Owner")
    owner = Caller(owner_id, "Owner", "human", "owner", OWNER_TOKEN_ID)
    people = [await db.write(add_entity, "human", name) for name in _PEOPLE]
    agents: dict[str, str] = {}
    for name, mind in zip(_NAMES, shape, strict=False):
        agents[name] = (await create_agent(db, owner, name, _config(mind)))["id"]
    spaces = []
    for name in ("Asking", "Working"):
        space = await db.write(create_space, owner, name)
        for member in (*(each["id"] for each in people), *agents.values()):
            await db.write(add_member, owner, space["id"], member)
        spaces.append(space["id"])
    callers = tuple(Caller(each["id"], each["name"], "human", "member", "prove") for each in people)
    return owner_id, callers, agents, tuple(spaces)


def _config(mind: str) -> dict[str, Any]:
    approve = {"type": "space", "name": "approve", "ui": "approval", "execution": {"timeoutSeconds": 4}}
    return {
        "mind": mind,
        "instructions": "Do what each message asks.",
        "tools": [python_tool("charge", False), python_tool("stamp", True), approve],
        "limits": {"waitSeconds": 4, "steps": 100, "concurrentRuns": 2, "attempts": 5},
    }
