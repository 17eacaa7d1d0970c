"""The database file that all simulated machines share, and their connections to it.

Both outlive a schedule: reading the schema and preparing the statements for every life of a node would take longer than
what the nodes do with them. So a schedule starts by putting the rows of its world into the file.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from majlis.prove.changes import CHANGES_TABLE
from majlis.store.sqlite import create_engine

Rows = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Content:
    """A file, and the rows of its tables."""

    file: bytes
    rows: Rows


class Disk:
    def __init__(self, path: Path) -> None:
        self.path = path
        # One for all machines and schedules: compiling the statements again would take most of the time.
        self.engine: sa.Engine = create_engine(self._connect)
        # Writes the rows of a world, in any order, and looks on from outside.
        self.observer = self._connect()
        self.observer.execute("PRAGMA foreign_keys=OFF")
        self.observer.row_factory = sqlite3.Row
        self._idle: list[sa.Connection] = []

    def connect(self) -> sa.Connection:
        return self._idle.pop() if self._idle else self.engine.connect()

    def give_back(self, connection: sa.Connection) -> None:
        """True if it has no open transaction."""
        self._idle.append(connection)

    def content(self) -> Content:
        """Everything is in the file afterwards, and no longer in the write-ahead log."""
        self.observer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Content(self.path.read_bytes(), {table: self.rows(table) for table in self._tables()})

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.observer.execute(f"SELECT * FROM {table}")]

    def restore(self, rows: Rows) -> None:
        """Triggers keep the search index up to date. The changes that they record are deleted at the end."""
        raw = self.observer
        raw.execute("BEGIN IMMEDIATE")
        for table, found in rows.items():
            raw.execute(f"DELETE FROM {table}")
            if found:
                marks = ", ".join("?" * len(found[0]))
                raw.executemany(f"INSERT INTO {table} VALUES ({marks})", found)
        raw.execute(f"DELETE FROM {CHANGES_TABLE}")
        raw.execute("COMMIT")

    def close(self) -> None:
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        self.observer.close()

    def _tables(self) -> list[str]:
        """The tables without those of the search index."""
        found = self.observer.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [row["name"] for row in found if not row["name"].startswith(("sqlite_", "messages_fts"))]

    def _connect(self) -> sqlite3.Connection:
        raw = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, cached_statements=1024)
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "foreign_keys=ON", "temp_store=MEMORY"):
            raw.execute(f"PRAGMA {pragma}")
        return raw


_gateways: list[Disk] = []


def gateway_disk(folder: Path, content: Content) -> Disk:
    """The one that all schedules of this process use, with the content."""
    path = folder / "gateway.db"
    if not _gateways or _gateways[0].path != path:
        for disk in _gateways:
            disk.close()
        path.write_bytes(content.file)
        _gateways[:] = [Disk(path)]
    _gateways[0].restore(content.rows)
    return _gateways[0]
