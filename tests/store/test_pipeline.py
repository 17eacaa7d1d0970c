"""Writes that are sent together behave as if each ran where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import sqlalchemy as sa

from majlis.store.hot import hot
from majlis.store.open import open_database
from majlis.store.tables import entities, gateway, tokens
from majlis.store.transactions import Database, Tx
from tests.conditions import until
from tests.databases import PostgresDatabases
from tests.wire import Wire

_INSERT = hot(gateway.insert())
_NAME = hot(entities.update().where(entities.c.id == sa.bindparam("entity")).values(name=sa.bindparam("new_name")))
_END = hot(tokens.update().where(tokens.c.id == sa.bindparam("token")).values(expires_at=sa.bindparam("at")))
_COUNT = hot(sa.select(sa.func.count()).select_from(gateway))
_ELSEWHERE = hot(sa.select(sa.func.count()).select_from(entities))
_KEYS = hot(sa.select(gateway.c.key))
_NOT_MARKED = sa.select(sa.func.count()).select_from(gateway)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def wire(postgres_databases: PostgresDatabases) -> AsyncIterator[Wire]:
    async with Wire(await asyncio.to_thread(postgres_databases.fresh)) as wire:
        yield wire


@pytest.fixture
async def watched(wire: Wire) -> AsyncIterator[Database]:
    opened = open_database(wire.url)
    # A new connection looks around first.
    await opened.read(count)
    wire.transactions.clear()
    yield opened
    await opened.close()


def row(key: str) -> dict[str, str]:
    return {"key": key, "value": "x"}


def count(tx: Tx) -> int:
    return int(tx.execute(_COUNT).scalar_one())


async def test_writes_that_nothing_waits_for_are_one_round_trip(watched: Database, wire: Wire) -> None:
    def write(tx: Tx) -> None:
        tx.later(_INSERT, [row("a"), row("b")])
        # Reads no table of a deferred write.
        tx.execute(_ELSEWHERE)
        tx.later(_NAME, {"entity": "ent_none", "new_name": "Nobody"})

    await watched.write(write)
    [transaction] = wire.transactions
    first, second = transaction.trips
    assert [_verb(each) for each in first] == ["BEGIN", "INSERT INTO gateway", "INSERT INTO gateway", "SELECT count(*)"]
    assert [_verb(each) for each in second] == ["UPDATE entities", "COMMIT"]
    assert await watched.read(count) == 2


async def test_reads_that_are_asked_for_together_are_one_round_trip(watched: Database, wire: Wire) -> None:
    def look(tx: Tx) -> tuple[int, int]:
        here, elsewhere = tx.ask(_COUNT, {}), tx.ask(_ELSEWHERE, {})
        return here.scalar_one(), elsewhere.scalar_one()

    assert await watched.snapshot(look) == (await watched.read(count), 1)
    [transaction] = wire.transactions
    assert [len(trip) for trip in transaction.trips] == [3, 1]


def _verb(statement: str) -> str:
    return " ".join(statement.split()[: 3 if statement.startswith("INSERT") else 2])


@pytest.mark.parametrize("look", [_COUNT, _NOT_MARKED], ids=["hot", "usual"])
async def test_a_read_sees_the_writes_before_it(db: Database, look: sa.Executable) -> None:
    def write(tx: Tx) -> list[int]:
        found = [tx.execute(look).scalar_one()]
        for key in ("a", "b"):
            tx.later(_INSERT, row(key))
            found.append(tx.execute(look).scalar_one())
        return found

    before, *after = await db.write(write)
    assert after == [before + 1, before + 2]


async def test_two_writes_to_one_table_keep_their_order(db: Database) -> None:
    remove = hot(gateway.delete().where(gateway.c.key == sa.bindparam("gone")))

    def write(tx: Tx) -> None:
        tx.later(_INSERT, row("a"))
        tx.later(remove, {"gone": "a"})
        tx.later(_INSERT, row("a"))

    before = await db.read(count)
    await db.write(write)
    assert await db.read(count) == before + 1


async def test_a_write_that_changed_no_row_is_noticed_where_it_stands(db: Database) -> None:
    """With `checked` only, and the work decides what it means."""

    def write(tx: Tx, key: str, fails: bool) -> bool:
        tx.later(_INSERT, row(key))
        tx.later(_END, {"token": "tok_none", "at": 1})
        changed = tx.later(_NAME, {"entity": "ent_none", "new_name": "Nobody"}, checked=True)
        if fails and not changed:
            raise LookupError
        tx.later(_INSERT, row(f"{key} after"))
        return changed

    before = await db.read(count)
    with pytest.raises(LookupError):
        await db.write(write, "a", True)
    assert await db.read(count) == before
    assert await db.write(write, "a", False) is False
    assert await db.read(count) == before + 2


async def test_a_broken_constraint_is_an_error_of_the_write_that_broke_it(db: Database) -> None:
    def write(tx: Tx) -> str:
        try:
            tx.later(_INSERT, row("same"))
            tx.later(_END, {"token": "tok_none", "at": 1})
        except sa.exc.IntegrityError:
            return "not this one"
        try:
            tx.later(_INSERT, row("same"))
        except sa.exc.IntegrityError as error:
            raise LookupError from error
        return "no error"

    before = await db.read(count)
    with pytest.raises(LookupError):
        await db.write(write)
    assert await db.read(count) == before


async def test_many_rows_are_written_at_once(watched: Database, wire: Wire) -> None:
    def write(tx: Tx) -> None:
        tx.later(_INSERT, row("first"))
        tx.later(_INSERT, [row(str(n)) for n in range(100)])
        tx.later(_INSERT, row("last"))

    before = await watched.read(count)
    await watched.write(write)
    assert await watched.read(count) == before + 102
    [transaction] = wire.transactions
    assert len(transaction.trips) == 1


async def test_what_was_deferred_is_gone_with_its_transaction(db: Database) -> None:
    def write(tx: Tx) -> None:
        tx.later(_INSERT, row("a"))
        raise LookupError

    before = await db.read(count)
    with pytest.raises(LookupError):
        await db.write(write)
    assert await db.read(count) == before


async def test_what_waits_in_a_savepoint_is_rolled_back_with_it(db: Database) -> None:
    def write(tx: Tx) -> None:
        tx.later(_INSERT, row("before"))
        with suppress(LookupError), tx.savepoint():
            tx.later(_INSERT, row("within"))
            raise LookupError
        with tx.savepoint():
            tx.later(_INSERT, row("kept"))

    before = await db.read(count)
    await db.write(write)
    assert await db.read(count) == before + 2


async def test_a_transaction_that_failed_and_went_on_is_not_taken_for_committed(watched: Database) -> None:
    """PostgreSQL answers its COMMIT with ROLLBACK, which it does not report as an error."""

    def write(tx: Tx) -> None:
        tx.execute(_INSERT, row("same"))
        with suppress(sa.exc.IntegrityError):
            tx.execute(_INSERT, row("same"))

    before = await watched.read(count)
    with pytest.raises(sa.exc.InternalError, match="rolled back"):
        await watched.write(write)
    assert await watched.read(count) == before


async def test_what_a_canceled_caller_has_committed_leaves(watched: Database) -> None:
    """The commit is under way: it cannot be taken back, so others have to hear of it."""
    left: list[object] = []
    watched.after_commit = left.extend
    for each in _SLOW_COMMIT:
        await watched.write(Tx.execute, sa.text(each))
    key = asyncio.Event()

    def write(tx: Tx) -> None:
        tx.execute(_INSERT, row("slow"))
        tx.outbox.append("heard")
        key.set()

    writing = asyncio.create_task(watched.write(write))
    await key.wait()
    await until(lambda: watched.read(lambda tx: tx.one(_COMMITTING)))
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await until(lambda: left)
    assert left == ["heard"]
    assert await watched.read(lambda tx: tx.one(sa.select(gateway.c.key).where(gateway.c.key == "slow")))


_SLOW_COMMIT = (
    "CREATE FUNCTION nap() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$ LANGUAGE plpgsql",
    "CREATE CONSTRAINT TRIGGER nap AFTER INSERT ON gateway DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION nap()",
)
_COMMITTING = sa.text(
    "SELECT pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'PgSleep'"
)


async def test_a_database_with_another_encoding_stores_texts_as_they_are(postgres_databases: PostgresDatabases) -> None:
    url = sa.make_url(await asyncio.to_thread(postgres_databases.fresh))
    name = f"{url.database}_latin"
    create = f"CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    one = open_database(url.render_as_string(hide_password=False))
    await one.read(lambda tx: tx.execute(sa.text(create)))
    await one.close()
    opened = open_database(url.set(database=name).render_as_string(hide_password=False))
    await opened.write(lambda tx: tx.execute(sa.text("CREATE TABLE gateway (key text PRIMARY KEY, value text)")))
    await opened.write(lambda tx: tx.later(_INSERT, row("M\u00fcller")))
    assert await opened.read(lambda tx: [each.key for each in tx.all(_KEYS)]) == ["M\u00fcller"]
    await opened.close()
