"""An entity is renamed or deleted while it joins a space. On SQLite one transaction writes at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.util import await_only

from majlis.entities.caller import Caller
from majlis.entities.change import change_entity, delete_entity
from majlis.errors import NotFound
from majlis.spaces.members import join, list_members
from majlis.store.open import open_database
from majlis.store.tables import events
from majlis.store.transactions import Database, Tx
from tests.conditions import until
from tests.spaces.actors import add_caller, space_of

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
OWNER = Caller("ent_none", "Owner", "human", "owner", "tok_none")
_BLOCKED = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)

Work = Callable[[Tx], Any]


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()


async def in_turn(db: Database, first: Work, second: Work) -> None:
    """The second transaction starts before the first commits, and has to wait for it."""
    done, commit = asyncio.Event(), asyncio.Event()

    def hold(tx: Tx) -> None:
        first(tx)
        done.set()
        await_only(commit.wait())

    holding = asyncio.create_task(db.write(hold))
    await done.wait()
    waiting = asyncio.create_task(db.write(second))
    await until(lambda: db.read(lambda tx: tx.execute(_BLOCKED).scalar_one()))
    commit.set()
    await holding
    await waiting


async def names_told(db: Database, space: str, entity: str) -> list[str]:
    rows = await db.read(
        lambda tx: tx.all(sa.select(events.c.data).where(events.c.topic == space).order_by(events.c.seq))
    )
    told = [json.loads(row.data).get("member") for row in rows]
    return [member["name"] for member in told if member and member["entityId"] == entity]


async def scene(db: Database) -> tuple[Caller, Caller, str, Work]:
    first, sara = [await db.write(add_caller, name) for name in ("First", "Sara")]
    space = await space_of(db, first)
    return first, sara, space, lambda tx: join(tx, space, sara.id, "member")


@pytest.mark.parametrize("renamed_first", [True, False])
async def test_a_space_that_is_joined_during_a_rename_knows_the_new_name(db: Database, renamed_first: bool) -> None:
    _, sara, space, joins = await scene(db)

    def rename(tx: Tx) -> None:
        change_entity(tx, OWNER, sara.id, {"name": "Zara"})

    await in_turn(db, *((rename, joins) if renamed_first else (joins, rename)))
    assert (await names_told(db, space, sara.id))[-1] == "Zara"


async def test_a_space_that_is_joined_during_a_deletion_is_left_again(db: Database) -> None:
    first, sara, space, joins = await scene(db)
    await in_turn(db, joins, lambda tx: delete_entity(tx, OWNER, sara.id))
    assert [member["name"] for member in await db.read(list_members, first, space)] == ["First"]


async def test_a_deleted_entity_joins_nothing(db: Database) -> None:
    first, sara, space, joins = await scene(db)
    with pytest.raises(NotFound):
        await in_turn(db, lambda tx: delete_entity(tx, OWNER, sara.id), joins)
    assert [member["name"] for member in await db.read(list_members, first, space)] == ["First"]
