"""Hot statements, which go straight to the driver, behave like others: rows, types, counts, errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from majlis.store.hot import HotResult, hot
from majlis.store.open import open_database
from majlis.store.tables import gateway, runs
from majlis.store.transactions import Database, Tx
from tests.conditions import until
from tests.databases import PostgresDatabases

_WAYS = ["hot", "usual"]
_things = sa.table(
    "things",
    sa.column("id", sa.Text),
    sa.column("n", sa.BigInteger),
    sa.column("data", runs.c.trigger.type),
    sa.column("yes", sa.Boolean),
    sa.column("usd", sa.Double),
)


def marked(way: str, statement: Any) -> Any:
    return hot(statement) if way == "hot" else statement


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    json = "jsonb" if opened.dialect == "postgresql" else "text"
    table = sa.text(
        f"CREATE TABLE things (id text PRIMARY KEY, n bigint, data {json}, yes boolean, usd double precision)"
    )
    await opened.write(lambda tx: tx.execute(table))
    yield opened
    await opened.close()


@pytest.fixture
async def postgres(postgres_databases: PostgresDatabases) -> AsyncIterator[Database]:
    opened = open_database(await asyncio.to_thread(postgres_databases.fresh))
    yield opened
    await opened.close()


async def test_a_marked_statement_goes_the_short_way_and_others_do_not(db: Database) -> None:
    short = hot(sa.select(_things.c.id))
    longer = short.where(_things.c.n == sa.bindparam("n"))
    one_of = hot(sa.select(_things.c.id).where(_things.c.n.in_(sa.bindparam("list", expanding=True))))

    def kinds(tx: Tx) -> list[bool]:
        results = tx.execute(short), tx.execute(longer, {"n": 1}), tx.execute(one_of, {"list": [1, 2]})
        return [isinstance(result, HotResult) for result in results]

    assert await db.read(kinds) == [True, False, False]
    listener = sa.event.listens_for(db.engine, "before_cursor_execute")
    listener(lambda *_: None)
    assert await db.read(kinds) == [False, False, False]


@pytest.mark.parametrize("way", _WAYS)
async def test_values_come_back_as_they_were_stored(db: Database, way: str) -> None:
    insert = marked(way, sa.insert(_things))
    select = marked(way, sa.select(_things).order_by(_things.c.id))
    rows = [
        {"id": "a", "n": 2**62, "data": {"text": "ü ' \\ 😀", "deep": [1, None]}, "yes": True, "usd": 0.1},
        {"id": "b", "n": -1, "data": [], "yes": False, "usd": 2.0},
    ]
    nothing = {"id": "c", "n": None, "data": None, "yes": None, "usd": None}

    def store(tx: Tx) -> None:
        tx.execute(insert, rows)
        tx.execute(insert, nothing)

    await db.write(store)
    for look in (db.read, db.snapshot, db.write):
        found = await look(lambda tx: tx.all(select))
        assert [dict(row._mapping) for row in found] == [*rows, nothing]
        assert [row.id for row in found] == ["a", "b", "c"]


@pytest.mark.parametrize("way", _WAYS)
async def test_how_many_rows_were_changed_is_known(db: Database, way: str) -> None:
    insert = marked(way, sa.insert(_things))
    update = marked(way, sa.update(_things).where(_things.c.n > sa.bindparam("above")).values(yes=True))
    returning = marked(way, sa.update(_things).values(n=_things.c.n + 1).returning(_things.c.n))
    await db.write(lambda tx: tx.execute(insert, [{"id": str(n), "n": n} for n in range(5)]))
    assert await db.write(lambda tx: tx.execute(update, {"above": 2}).rowcount) == 2
    assert await db.write(lambda tx: tx.execute(update, {"above": 9}).rowcount) == 0
    assert sorted(row.n for row in await db.write(lambda tx: tx.all(returning))) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("way", _WAYS)
async def test_a_broken_constraint_is_an_integrity_error_and_undoes_all_of_it(db: Database, way: str) -> None:
    insert = marked(way, sa.insert(_things))
    count = marked(way, sa.select(sa.func.count()).select_from(_things))

    def twice(tx: Tx) -> None:
        tx.execute(insert, {"id": "new", "n": 1})
        tx.execute(insert, {"id": "same", "n": 1})

    await db.write(twice)
    with pytest.raises(sa.exc.IntegrityError):
        await db.write(twice)
    with pytest.raises(sa.exc.IntegrityError):
        await db.write(lambda tx: tx.execute(insert, [{"id": "other", "n": 1}, {"id": "same", "n": 1}]))
    assert await db.read(lambda tx: tx.execute(count).scalar_one()) == 2


@pytest.mark.parametrize("way", _WAYS)
async def test_no_error_carries_what_was_to_be_stored(db: Database, way: str) -> None:
    insert = marked(way, sa.insert(_things))

    def twice(tx: Tx) -> None:
        for _ in range(2):
            tx.execute(insert, {"id": "same", "data": {"text": "a secret"}})

    with pytest.raises(sa.exc.IntegrityError) as failed:
        await db.write(twice)
    assert "a secret" not in str(failed.value)


_SLEEP = sa.select(sa.func.pg_sleep(sa.bindparam("seconds", type_=sa.Float)))
_KEYS = sa.select(gateway.c.key)


@pytest.mark.parametrize("way", _WAYS)
async def test_a_statement_that_is_broken_off_takes_its_connection_with_it(postgres: Database, way: str) -> None:
    """Otherwise the next statement would read its result."""
    sleep, look = marked(way, sa.select(*_SLEEP.selected_columns)), marked(way, sa.select(*_KEYS.selected_columns))
    for _ in range(30):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await postgres.write(lambda tx: tx.execute(sleep, {"seconds": 30.0}))
        assert await postgres.read(lambda tx: tx.all(look)) == []


@pytest.mark.parametrize("way", _WAYS)
async def test_a_connection_that_was_ended_is_given_up(postgres: Database, way: str) -> None:
    """Reads and writes are retried on a new connection, each write once."""
    look, insert = marked(way, sa.select(*_KEYS.selected_columns)), marked(way, gateway.insert())
    end = sa.text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    other = open_database(postgres.engine.url.render_as_string(hide_password=False))
    await postgres.write(lambda tx: tx.execute(insert, {"key": "a", "value": "x"}))
    await other.write(lambda tx: tx.execute(end))
    assert [row.key for row in await postgres.read(lambda tx: tx.all(look))] == ["a"]
    await other.write(lambda tx: tx.execute(end))
    await postgres.write(lambda tx: tx.execute(insert, {"key": "b", "value": "x"}))
    assert [row.key for row in await postgres.read(lambda tx: tx.all(look))] == ["a", "b"]
    await other.close()


async def test_a_write_whose_connection_is_lost_after_its_commit_was_sent_is_not_repeated(postgres: Database) -> None:
    """Its outcome is unknown: a second try could do it twice."""
    other = open_database(postgres.engine.url.render_as_string(hide_password=False))
    tries: list[int] = []

    def slow_commit(tx: Tx) -> None:
        # A deferred trigger runs within the COMMIT itself, where the other connection ends this one.
        tries.append(tx.conn.execute(sa.text("SELECT pg_backend_pid()")).scalar_one())
        tx.execute(gateway.insert(), {"key": "a", "value": "x"})

    await postgres.write(lambda tx: [tx.conn.exec_driver_sql(each) for each in _SLOW_COMMIT])
    writing = asyncio.ensure_future(postgres.write(slow_commit))
    await until(lambda: other.read(lambda tx: tx.one(_IN_COMMIT)))
    await other.write(lambda tx: tx.conn.exec_driver_sql(f"SELECT pg_terminate_backend({tries[0]})"))
    with pytest.raises(sa.exc.DBAPIError) as failed:
        await writing
    assert failed.value.connection_invalidated
    assert len(tries) == 1
    await other.write(lambda tx: [tx.conn.exec_driver_sql(each) for each in _USUAL_COMMIT])
    await other.close()


_SLOW_COMMIT = (
    "CREATE FUNCTION hang() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$ LANGUAGE plpgsql",
    "CREATE CONSTRAINT TRIGGER hang AFTER INSERT ON gateway DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION hang()",
)
_USUAL_COMMIT = ("DROP TRIGGER hang ON gateway", "DROP FUNCTION hang")
_IN_COMMIT = sa.text(
    "SELECT pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'PgSleep'"
)


@pytest.mark.parametrize("way", _WAYS)
async def test_a_table_that_was_changed_meanwhile_is_read_again(postgres: Database, way: str) -> None:
    """A newer version has migrated it while this process runs."""
    look = marked(way, sa.select(sa.text("*")).select_from(gateway))
    for _ in range(10):  # After a few times SQLAlchemy's way is prepared, too.
        await postgres.read(lambda tx: tx.all(look))
    other = open_database(postgres.engine.url.render_as_string(hide_password=False))
    await other.write(lambda tx: tx.execute(sa.text("ALTER TABLE gateway ADD COLUMN more text")))
    assert await postgres.read(lambda tx: tx.all(look)) == []
    await other.close()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("way", _WAYS)
async def test_sqlite_counts_inserted_rows_in_a_turkish_locale(db: Database, way: str) -> None:
    """Python recognizes an INSERT with the locale's lower-case letters. Its count used to be -1 there."""
    insert = marked(way, sqlite.insert(_things).on_conflict_do_nothing())
    assert str(insert.compile(dialect=db.engine.dialect)).startswith("insert INTO things")
    row = {"id": "same", "n": 1}
    assert [await db.write(lambda tx: tx.execute(insert, row).rowcount) for _ in range(2)] == [1, 0]
