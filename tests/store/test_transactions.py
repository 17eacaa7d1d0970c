"""A transaction commits as a whole or not at all; what leaves the process leaves after the commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from majlis.errors import Conflict
from majlis.store.open import open_database
from majlis.store.sqlite import SqliteDatabase
from majlis.store.tables import gateway
from majlis.store.transactions import Database, Tx
from tests.databases import PostgresDatabases, SqliteDatabases


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()


def put(tx: Tx, key: str, fail: bool = False) -> str:
    tx.execute(gateway.insert(), {"key": key, "value": "x"})
    tx.outbox.append(key)
    if fail:
        raise Conflict("no", f"{key} was told to fail")
    return key


def keys(tx: Tx) -> set[str]:
    return {row.key for row in tx.all(sa.select(gateway.c.key))}


async def test_a_crowd_of_writes_commits_those_that_succeed_and_none_of_the_others(db: Database) -> None:
    sent: list[object] = []
    db.after_commit = sent.extend
    results = await asyncio.gather(*(db.write(put, f"k{n}", n % 3 == 0) for n in range(300)), return_exceptions=True)
    failed = {n for n, result in enumerate(results) if isinstance(result, Conflict)}
    assert failed == {n for n in range(300) if n % 3 == 0}
    expected = {f"k{n}" for n in range(300) if n % 3}
    assert await db.read(keys) == expected
    assert set(sent) == expected
    assert len(sent) == len(expected)


async def test_a_broken_constraint_undoes_its_own_transaction_only(db: Database) -> None:
    def twice(tx: Tx) -> None:
        put(tx, "other")
        put(tx, "same")

    await db.write(put, "same")
    results = await asyncio.gather(
        db.write(twice), *(db.write(put, f"k{n}") for n in range(20)), return_exceptions=True
    )
    assert isinstance(results[0], sa.exc.IntegrityError)
    assert await db.read(keys) == {"same", *(f"k{n}" for n in range(20))}


async def test_nothing_leaves_before_the_commit(db: Database) -> None:
    """The outbox is published when another connection can already see the rows."""
    seen: list[bool] = []
    loop = asyncio.get_running_loop()
    finished = asyncio.Event()

    async def look() -> None:
        seen.append("leaving" in await db.read(keys))
        finished.set()

    def leave(_: list[object]) -> None:
        loop.call_soon(lambda: tasks.append(loop.create_task(look())))

    tasks: list[asyncio.Task[None]] = []
    db.after_commit = leave
    await db.write(put, "leaving")
    await finished.wait()
    assert seen == [True]


async def test_a_snapshot_sees_one_moment(db: Database) -> None:
    """The second statement of a snapshot does not see a write that commits after the first."""
    loop = asyncio.get_running_loop()
    between = asyncio.Event()

    def look_twice(tx: Tx) -> tuple[int, int]:
        before = len(keys(tx))
        loop.call_soon_threadsafe(between.set)
        # A slow statement inside the snapshot gives the writer time to commit.
        if tx.dialect == "postgresql":
            tx.execute(sa.text("SELECT pg_sleep(0.2)"))
        else:
            tx.execute(
                sa.text(
                    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c LIMIT 400000) SELECT max(n) FROM c"
                )
            )
        return before, len(keys(tx))

    reading = asyncio.create_task(db.snapshot(look_twice))
    await between.wait()
    await db.write(put, "meanwhile")
    assert await reading == (0, 0)
    assert await db.read(keys) == {"meanwhile"}


async def test_two_transactions_that_lock_each_other_out_both_get_through(
    postgres_databases: PostgresDatabases,
) -> None:
    """PostgreSQL rolls one of them back, and it runs again. SQLite has only one writer."""
    db = open_database(await asyncio.to_thread(postgres_databases.fresh))
    await db.write(put, "a")
    await db.write(put, "b")

    def touch(tx: Tx, *order: str) -> None:
        for key in order:
            tx.execute(gateway.update().where(gateway.c.key == key).values(value=gateway.c.value + "!"))
            tx.execute(sa.text("SELECT pg_sleep(0.05)"))

    await asyncio.gather(*(db.write(touch, *order) for order in (("a", "b"), ("b", "a")) * 2))
    values = await db.read(lambda tx: [row.value for row in tx.all(sa.select(gateway.c.value))])
    assert values == ["x!!!!", "x!!!!"]
    await db.close()


@pytest.fixture
async def quick(sqlite_databases: SqliteDatabases) -> AsyncIterator[SqliteDatabase]:
    """SQLite with a disk that it measured as fast, so that brief writes run at once."""
    opened = SqliteDatabase(Path(sqlite_databases.fresh().removeprefix("sqlite:///")))
    opened._flush_seconds = 0.0
    yield opened
    await opened.close()


async def test_a_brief_write_alone_is_done_in_the_loops_own_thread(quick: SqliteDatabase) -> None:
    def where(tx: Tx) -> str:
        put(tx, threading.current_thread().name)
        return threading.current_thread().name

    sent: list[object] = []
    quick.after_commit = sent.extend
    assert await quick.write_brief(where) == threading.current_thread().name
    assert sent == [threading.current_thread().name]
    assert await quick.read(keys) == {threading.current_thread().name}


async def test_brief_writes_of_a_crowd_share_a_flush_in_the_writer(quick: SqliteDatabase) -> None:
    def where(_: Tx) -> str:
        return threading.current_thread().name

    few = await asyncio.gather(*(quick.write_brief(where) for _ in range(20)))
    assert set(few) == {threading.main_thread().name}
    many = await asyncio.gather(*(quick.write_brief(where) for _ in range(100)))
    assert set(many) == {"sqlite-writer"}
    quick._flush_seconds = 1.0
    assert await quick.write_brief(where) == "sqlite-writer"


async def test_only_commits_that_wrote_something_tell_how_quick_the_disk_is(quick: SqliteDatabase) -> None:
    """The poll of the log commits nothing once a second; that must not make a slow disk look fast."""
    quick._flush_seconds = 1.0
    for _ in range(50):
        await quick.changed_elsewhere()
        await quick.write(keys)
    assert quick._flush_seconds == 1.0
    await quick.write(put, "something")
    assert quick._flush_seconds != 1.0


async def test_a_foreign_write_between_the_two_looks_is_noticed_at_the_next(
    quick: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = SqliteDatabase(quick.path)
    await quick.changed_elsewhere()
    write = quick.write

    async def look_then_be_overtaken(work: Callable[[Tx], object]) -> object:
        version = await write(work)
        await theirs.write(put, "between")
        return version

    with monkeypatch.context() as patched:
        patched.setattr(quick, "write", look_then_be_overtaken)
        first = await quick.changed_elsewhere()
    assert first or await quick.changed_elsewhere()
    assert not await quick.changed_elsewhere()
    await theirs.close()


async def test_a_brief_write_that_is_refused_leaves_nothing(quick: SqliteDatabase) -> None:
    sent: list[object] = []
    quick.after_commit = sent.extend
    with pytest.raises(Conflict):
        await quick.write_brief(put, "no", True)
    with pytest.raises(sa.exc.IntegrityError):
        await quick.write_brief(lambda tx: [put(tx, "same"), put(tx, "same")])
    assert await quick.read(keys) == set()
    assert sent == []


async def test_a_brief_write_waits_for_a_lock_of_another_process(quick: SqliteDatabase) -> None:
    """Another process has locked it: the writer waits, and the loop continues."""
    other = sqlite3.connect(quick.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = quick.write_brief(put, "patient")
    assert await quick.read(keys) == set()
    assert not writing.done()
    other.execute("COMMIT")
    other.close()
    assert await writing == "patient"


async def test_sqlite_tells_whether_another_process_has_written(sqlite_databases: SqliteDatabases) -> None:
    url = sqlite_databases.fresh()
    ours, theirs = (SqliteDatabase(Path(url.removeprefix("sqlite:///"))) for _ in range(2))
    await ours.changed_elsewhere()
    await ours.write(put, "mine")
    assert not await ours.changed_elsewhere()
    ours._flush_seconds = 0.0
    await ours.write_brief(put, "mine, at once")
    assert not await ours.changed_elsewhere()
    await theirs.write(put, "theirs")
    assert await ours.changed_elsewhere()
    assert not await ours.changed_elsewhere()
    await ours.close()
    await theirs.close()
