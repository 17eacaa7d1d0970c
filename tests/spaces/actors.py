"""Members as the domain sees them, for tests that need no HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate

from majlis.entities.caller import Caller, EntityType
from majlis.entities.entities import add_entity
from majlis.spaces.members import join
from majlis.spaces.spaces import create_space
from majlis.store.transactions import Database, P, T, Tx


@dataclass(frozen=True)
class As:
    """Work done on somebody's behalf, as the API does it for the owner of a token."""

    db: Database
    caller: Caller

    async def write_brief(
        self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self.db.write_brief(lambda tx: work(tx, self.caller, *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.db.read(lambda tx: work(tx, self.caller, *args, **kwargs))


def add_caller(tx: Tx, name: str, type: EntityType = "human") -> Caller:
    entity = add_entity(tx, type, name)
    return Caller(entity["id"], name, type, "member", "tok_none")


async def callers(db: Database, *names: str) -> list[Caller]:
    return [await db.write(add_caller, name) for name in names]


async def space_of(db: Database, first: Caller, *others: Caller) -> str:
    def make(tx: Tx) -> str:
        space = create_space(tx, first, "Project Alpha")
        for other in others:
            join(tx, space["id"], other.id, "member")
        return space["id"]

    return await db.write(make)
