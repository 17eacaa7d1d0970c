"""The pool of connections to PostgreSQL loses none, whenever its callers are cancelled or have to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import sqlalchemy as sa

from majlis.store.hot import hot
from majlis.store.pipeline import Pipeline
from majlis.store.postgres import PostgresDatabase, _Connection
from majlis.store.tables import gateway
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.databases import PostgresDatabases

_INSERT = hot(gateway.insert())
_KEYS = hot(sa.select(gateway.c.key).order_by(gateway.c.key))
_SLEEP = sa.text("SELECT pg_sleep(30)")


@pytest.fixture
async def db(postgres_databases: PostgresDatabases) -> AsyncIterator[PostgresDatabase]:
    opened = PostgresDatabase(sa.make_url(await asyncio.to_thread(postgres_databases.fresh)), pool_size=3)
    yield opened
    await opened.close()


def keys(tx: Tx) -> list[str]:
    return [row.key for row in tx.all(_KEYS)]


async def test_a_connection_that_comes_as_the_wait_for_it_ends_is_used(
    db: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = db._pool
    held = [await pool._take() for _ in range(3)]
    monkeypatch.setattr("majlis.store.postgres._POOL_SECONDS", 0.02)
    waiting = asyncio.create_task(pool._take())
    await until(lambda: bool(pool._waiting))
    # Both happen in the next iteration of the event loop, the return first.
    asyncio.get_running_loop().call_soon(pool._give_back, held[0])
    _stall(0.05)
    with suppress(sa.exc.TimeoutError):
        pool._give_back(await waiting)
    for each in held[1:]:
        pool._give_back(each)
    assert len(pool._idle) == 3


def _stall(seconds: float) -> None:
    """A loop that is busy with something else."""
    until_then = time.perf_counter() + seconds
    while time.perf_counter() < until_then:
        continue


async def test_a_text_that_postgresql_cannot_store_ends_no_transaction(db: PostgresDatabase) -> None:
    def write(tx: Tx, fails: bool) -> None:
        with suppress(sa.exc.DataError):
            tx.later(_INSERT, {"key": "a\0b", "value": "x"})
        tx.later(_INSERT, {"key": "kept", "value": "x"})
        if fails:
            tx.execute(_KEYS)
            raise LookupError

    before = await db.read(keys)
    with pytest.raises(LookupError):
        await db.write(write, True)
    assert await db.read(keys) == before
    await db.write(write, False)
    assert await db.read(keys) == sorted([*before, "kept"])


async def test_what_was_committed_leaves_if_its_caller_is_canceled_as_the_answer_comes(
    db: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[object] = []
    db.after_commit = left.extend
    finish = Pipeline._finish

    def finish_and_cancel(pipeline: Pipeline, error: object) -> None:
        finish(pipeline, error)  # type: ignore[arg-type]
        if pipeline.has_sent_commit:
            writing.cancel()

    def write(tx: Tx) -> None:
        tx.later(_INSERT, {"key": "new", "value": "x"})
        tx.outbox.append("heard")

    monkeypatch.setattr(Pipeline, "_finish", finish_and_cancel)
    writing = asyncio.create_task(db.write(write))
    with pytest.raises(asyncio.CancelledError):
        await writing
    monkeypatch.undo()
    assert "new" in await db.read(keys)
    assert left == ["heard"]


async def test_a_canceled_statement_costs_no_other_connection(db: PostgresDatabase) -> None:
    pool = db._pool
    held = [await pool._take() for _ in range(3)]
    for each in held:
        pool._give_back(each)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await db.read(lambda tx: tx.execute(_SLEEP))
    assert pool._idle == held[:2]


async def test_a_cancellation_that_arrives_before_its_statement_is_repeated(
    db: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ignored it, and the statement kept its connection and its locks until it ended by itself."""
    sleep = hot(sa.select(sa.func.pg_sleep(sa.bindparam("seconds", type_=sa.Float))))
    cancel, sent = _Connection.cancel, 0

    async def lose_the_first(connection: _Connection) -> None:
        nonlocal sent
        sent += 1
        if sent > 1:
            await cancel(connection)

    monkeypatch.setattr(_Connection, "cancel", lose_the_first)
    await db.read(keys)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await db.read(lambda tx: tx.execute(sleep, {"seconds": 60.0}))
    await until(lambda: len(db._pool._idle) == 1)
    assert sent > 1
    assert db._pool._open == 1


async def test_a_large_write_and_its_answers_pass_each_other(db: PostgresDatabase) -> None:
    rows = [{"key": f"{n:04}", "value": "x" * 20_000} for n in range(200)]
    selects = hot(sa.select(gateway.c.value).where(gateway.c.key == sa.bindparam("key")))

    def write(tx: Tx) -> int:
        tx.later(_INSERT, rows)
        found = [tx.ask(selects, {"key": row["key"]}) for row in rows]
        return sum(len(each.scalar_one()) for each in found)

    assert await db.write(write) == 200 * 20_000
    assert await db.read(lambda tx: len(keys(tx))) >= 200
