"""A gateway with people and spaces in it, before a server runs on it."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.stage import Stage
from majlis.entities.caller import Caller
from majlis.entities.entities import add_entity
from majlis.entities.tokens import Hasher, issue
from majlis.gateway import open_gateway
from majlis.settings import Settings
from majlis.spaces.members import add_member
from majlis.spaces.spaces import create_space
from majlis.store.transactions import Tx


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class Scene:
    """All people are members of every space. `folder` holds the server's key."""

    url: str
    folder: Path
    people: list[Person]
    spaces: list[str]


def set_scene(stage: Stage, people: int = 2, spaces: int = 1) -> Scene:
    """On a fresh database."""
    folder = Path(tempfile.mkdtemp(dir=stage.folder))
    return asyncio.run(_set(stage.fresh(), folder, people, spaces))


async def _set(url: str, folder: Path, people: int, spaces: int) -> Scene:
    gateway = await open_gateway(Settings(database_url=url, data_dir=folder, port=0))
    try:
        made = await gateway.db.write(_people, gateway.hasher, people)
        return Scene(url, folder, made, await gateway.db.write(_spaces, made, spaces))
    finally:
        await gateway.db.close()


def _people(tx: Tx, hasher: Hasher, count: int) -> list[Person]:
    made = []
    for number in range(count):
        entity = add_entity(tx, "human", f"Person {number}")
        made.append(Person(entity["id"], entity["name"], issue(tx, hasher, entity["id"], "api")[1]))
    return made


def _spaces(tx: Tx, people: list[Person], count: int) -> list[str]:
    first = Caller(people[0].id, people[0].name, "human", "member", "bench")
    made = [create_space(tx, first, f"Space {number}")["id"] for number in range(count)]
    for space in made:
        for person in people[1:]:
            add_member(tx, first, space, person.id)
    return made
