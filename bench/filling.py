"""A space with a million messages, inserted by bulk SQL with everything that posting would have written: rows, indexes,
full-text index, and the newest tenth of its events."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import asyncpg

from bench.results import Engine
from bench.scenes import Scene
from bench.stage import sqlite_path
from majlis.store.sqlite import _PRAGMAS

# Five words each, from vocabularies of different sizes; the last one is all its own.
_SQLITE_TEXT = "'w' || (n % 97) || ' x' || (n % 1009) || ' y' || (n * 31 % 5003) || ' z' || (n * 17 % 997) || ' m' || n"
_POSTGRES_TEXT = "concat('w', n % 97, ' x', n % 1009, ' y', n * 31 % 5003, ' z', n * 17 % 997, ' m', n)"
_COLUMNS = "id, space_id, seq, sender_id, kind, text, chain_depth, caused_by, client_id, created_at"
_DATA = '{"type":"space.message","spaceId":"","message":{' + "x" * 400 + "}}"


def fill(engine: Engine, scene: Scene, space: str, count: int) -> None:
    """Fills an empty space, in a database that is not in use."""
    if engine == "sqlite":
        _fill_sqlite(scene, space, count)
    else:
        asyncio.run(_fill_postgres(scene, space, count))


def _fill_sqlite(scene: Scene, space: str, count: int) -> None:
    with closing(sqlite3.connect(sqlite_path(scene.url), isolation_level=None)) as db:
        for pragma in _PRAGMAS:
            db.execute(pragma)
        trigger = db.execute("SELECT sql FROM sqlite_master WHERE name = 'messages_fts_insert'").fetchone()[0]
        numbers = f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"
        key = _key(space, "printf('%010d', n)")
        values = f"{key}, '{space}', n, '{scene.people[0].id}', 'text', {_SQLITE_TEXT}, 0, {key}, 'c' || n, n"
        db.execute("BEGIN IMMEDIATE")
        db.execute("DROP TRIGGER messages_fts_insert")
        db.execute(f"{numbers} INSERT INTO messages ({_COLUMNS}) SELECT {values} FROM numbers")
        db.execute("INSERT INTO messages_fts (messages_fts) VALUES ('rebuild')")
        db.execute(trigger)
        db.execute(f"{numbers} {_events(space, count)}")
        for statement in _heads(space, count):
            db.execute(statement)
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _fill_postgres(scene: Scene, space: str, count: int) -> None:
    db = await asyncpg.connect(scene.url)
    try:
        index = await db.fetchval("SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_messages_words'")
        numbers = f"WITH numbers(n) AS (SELECT generate_series(1, {count}::bigint))"
        key = _key(space, "lpad(n::text, 10, '0')")
        values = f"{key}, '{space}', n, '{scene.people[0].id}', 'text', {_POSTGRES_TEXT}, 0, {key}, 'c' || n, n"
        await db.execute("DROP INDEX ix_messages_words")
        await db.execute(f"{numbers} INSERT INTO messages ({_COLUMNS}) SELECT {values} FROM numbers")
        await db.execute(index)
        await db.execute(f"{numbers} {_events(space, count)}")
        for statement in _heads(space, count):
            await db.execute(statement)
        await db.execute("VACUUM ANALYZE")
        await db.execute("CHECKPOINT")
    finally:
        await db.close()


def _key(space: str, number: str) -> str:
    """SQL for a message id: the end of the space's own id, and the number."""
    return f"'msg_{space[-6:]}' || {number}"


def _events(space: str, count: int) -> str:
    """Dated far ahead, so that no sweep takes them while we measure."""
    values = f"'{space}', n + 100, 'space.message', '{_DATA}', 1000000000000000"
    return f"INSERT INTO events (topic, seq, type, data, at) SELECT {values} FROM numbers WHERE n > {count * 9 // 10}"


def _heads(space: str, count: int) -> tuple[str, str]:
    return (
        f"UPDATE spaces SET head_seq = {count}, event_seq = {count + 100} WHERE id = '{space}'",
        f"UPDATE members SET seen_seq = {count // 2} WHERE space_id = '{space}'",
    )
