"""Members made without HTTP."""

from __future__ import annotations

from majlis.entities.caller import Caller, EntityType
from majlis.entities.entities import add_entity
from majlis.spaces.history import find_by_client_id
from majlis.spaces.members import join
from majlis.spaces.post import Draft, Repeated, store_message
from majlis.spaces.shapes import MessageJson
from majlis.spaces.spaces import create_space
from majlis.store.transactions import Database, Tx


async def post(db: Database, sender: Caller, space: str, draft: Draft) -> tuple[MessageJson, bool]:
    """The stored message, and whether it is new. A repeated client id returns the first message, as the API does."""
    try:
        return (await db.write_brief(store_message, sender, space, draft)).message, True
    except Repeated:
        return await db.read(find_by_client_id, sender, space, draft.client_id or ""), False


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
