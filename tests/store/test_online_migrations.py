"""Large tables change while other nodes use them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from alembic import op
from alembic.migration import MigrationContext
from alembic.operations import Operations

from majlis.store.migrations import online
from majlis.store.open import open_database
from majlis.store.transactions import Database, Tx
from tests.conditions import until

only_postgresql = pytest.mark.parametrize("engine", ["postgresql"])


async def test_an_index_is_built_once_and_a_second_time_does_nothing(database_url: str) -> None:
    async with asyncio.timeout(60):
        for _ in range(2):
            await _migrate(database_url, lambda: online.add_index("ix_new", "steps", ["name"], where="name <> ''"))
    assert await _indexes(database_url, "steps") == {"ix_new"}
    await _migrate(database_url, lambda: online.drop_index("ix_new", "steps"))
    await _migrate(database_url, lambda: online.drop_index("ix_new", "steps"))
    assert await _indexes(database_url, "steps") == set()


@only_postgresql
async def test_writes_go_on_while_postgresql_builds_an_index(database_url: str) -> None:
    """The build waits for an older transaction. A plain CREATE INDEX would let this write wait for it as well."""
    db = open_database(database_url)
    older = open_database(database_url)
    async with asyncio.timeout(60):
        async with older._engine.connect() as holder:  # type: ignore[attr-defined]
            await holder.execution_options(isolation_level="READ COMMITTED")
            await holder.execute(sa.text("UPDATE gateway SET value = value"))
            building = asyncio.create_task(
                _migrate(database_url, lambda: online.add_index("ix_new", "gateway", ["value"]))
            )
            await until(lambda: db.read(_waits_for_a_lock))
            await db.write(lambda tx: tx.execute(sa.text("INSERT INTO gateway (key, value) VALUES ('a', 'b')")))
            assert not building.done()
            await holder.rollback()
        await building
    assert "ix_new" in await _indexes(database_url, "gateway")
    await db.close()
    await older.close()


@only_postgresql
async def test_an_index_whose_build_was_interrupted_is_built_again(database_url: str) -> None:
    db = open_database(database_url)
    add = sa.text("INSERT INTO gateway (key, value) VALUES (:key, 'same')")
    await db.write(lambda tx: tx.execute(add, [{"key": "a"}, {"key": "b"}]))
    with pytest.raises(sa.exc.IntegrityError):
        await _migrate(database_url, lambda: online.add_index("uq_new", "gateway", ["value"], unique=True))
    assert "uq_new" in await _indexes(database_url, "gateway")  # invalid
    await db.write(lambda tx: tx.execute(sa.text("DELETE FROM gateway WHERE key = 'b'")))
    await _migrate(database_url, lambda: online.add_index("uq_new", "gateway", ["value"], unique=True))
    with pytest.raises(sa.exc.IntegrityError):
        await db.write(lambda tx: tx.execute(add, {"key": "b"}))
    await db.close()


@only_postgresql
async def test_an_online_change_after_another_change_is_refused(database_url: str) -> None:

    def both() -> None:
        op.execute("CREATE TABLE other (id INTEGER)")
        online.add_index("ix_new", "other", ["id"])

    with pytest.raises(RuntimeError, match="come first"):
        await _migrate(database_url, both)


async def test_a_column_accepts_more_values_and_keeps_its_rows(database_url: str) -> None:
    db = open_database(database_url)
    add = sa.text("INSERT INTO entities (id, type, name, name_key, created_at) VALUES (:type, :type, :type, :type, 0)")
    await db.write(lambda tx: tx.execute(add, {"type": "service"}))

    def widen() -> None:
        online.allow_values("entities", "type", "human", "agent", "service", "robot")
        op.add_column("entities", sa.Column("colour", sa.String(16), server_default="red"))

    await _migrate(database_url, widen)
    await db.write(lambda tx: tx.execute(add, {"type": "robot"}))
    with pytest.raises(sa.exc.IntegrityError):
        await db.write(lambda tx: tx.execute(add, {"type": "ghost"}))
    rows = await db.read(lambda tx: tx.all(sa.text("SELECT type, colour FROM entities WHERE id = type ORDER BY type")))
    assert [tuple(row) for row in rows] == [("robot", "red"), ("service", "red")]
    if db.dialect == "sqlite":
        assert await db.read(lambda tx: tx.execute(sa.text("PRAGMA integrity_check")).scalar_one()) == "ok"
    await db.close()


@only_postgresql
async def test_a_migration_that_cannot_get_a_lock_lets_others_pass_and_tries_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("majlis.store.postgres._ALTER_PAUSE", 0.05)
    db = open_database(database_url)
    tries = 0

    def alter() -> None:
        nonlocal tries
        tries += 1
        op.execute("SET lock_timeout = '20ms'")
        op.add_column("gateway", sa.Column("colour", sa.String(16)))

    async with asyncio.timeout(60):
        async with db._engine.connect() as reader:  # type: ignore[attr-defined]
            await reader.execution_options(isolation_level="READ COMMITTED")
            await reader.execute(sa.text("SELECT * FROM gateway"))
            altering = asyncio.create_task(_migrate(database_url, alter))
            await until(lambda: tries > 2)
            await reader.rollback()
        await altering
    await db.read(lambda tx: tx.execute(sa.text("SELECT colour FROM gateway")))
    await db.close()


async def _migrate(url: str, upgrade: Callable[[], None]) -> None:
    """Like one revision, without a file for it."""
    db = open_database(url)

    def run(tx: Tx) -> None:
        if tx.dialect == "sqlite":
            tx.execute(sa.text("SELECT 1"))
        context = MigrationContext.configure(tx.conn, opts={"transaction_per_migration": True})
        with Operations.context(context), context.begin_transaction(_per_migration=True):
            upgrade()

    try:
        await db.alter(run)
    finally:
        await db.close()


async def _indexes(url: str, table: str) -> set[str]:
    db: Database = open_database(url)
    try:
        return await db.read(lambda tx: {str(each["name"]) for each in sa.inspect(tx.conn).get_indexes(table)})
    finally:
        await db.close()


def _waits_for_a_lock(tx: Tx) -> bool:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'"
    return bool(tx.execute(sa.text(waiting)).scalar_one())
