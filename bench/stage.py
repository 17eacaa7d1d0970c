"""The common part of all measures: an engine with fresh databases, copies of them, and how long to measure."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import sqlalchemy as sa

from bench.results import Engine
from tests.databases import PostgresDatabases, SqliteDatabases, postgres_server


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that a measure makes lies in `folder` or is listed in `made`, and goes with the stage."""

    engine: Engine
    databases: SqliteDatabases | PostgresDatabases
    folder: Path
    quick: bool
    made: list[str] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        return 10 if self.quick else 40

    def fresh(self) -> str:
        return self._keep(self.databases.fresh())

    def empty(self) -> str:
        """A database without tables, for others."""
        return self._keep(self.databases.empty())

    def copy(self, url: str) -> str:
        """The database must not be in use."""
        return self._keep(_copy_file(url) if self.engine == "sqlite" else asyncio.run(_copy_database(url)))

    def _keep(self, url: str) -> str:
        self.made.append(url)
        return url


@contextmanager
def open_stage(engine: Engine, quick: bool) -> Iterator[Stage]:
    folder = Path(tempfile.mkdtemp(prefix="majlis-bench-"))
    try:
        if engine == "sqlite":
            yield Stage(engine, SqliteDatabases(folder), folder, quick)
        else:
            with postgres_server(durable=True) as url:
                stage = Stage(engine, databases := PostgresDatabases(url), folder, quick)
                yield stage
                for made in stage.made:
                    databases.drop(made)
                databases.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sqlite_path(url: str) -> Path:
    return Path(sa.make_url(url).database or "")


def _copy_file(url: str) -> str:
    source = sqlite_path(url)
    target = source.with_name(f"{uuid.uuid4().hex[:12]}.db")
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
    return f"sqlite:///{target}"


async def _copy_database(url: str) -> str:
    source = sa.make_url(url)
    name = f"majlis_copy_{uuid.uuid4().hex[:12]}"
    connection = await asyncpg.connect(source.set(database="postgres").render_as_string(hide_password=False))
    try:
        await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{source.database}"')
    finally:
        await connection.close()
    return source.set(database=name).render_as_string(hide_password=False)
