"""Opens the database of a URL."""

from __future__ import annotations

import os
from pathlib import Path

import sqlalchemy as sa

from majlis.errors import ConfigurationError
from majlis.store.sqlite import SqliteDatabase
from majlis.store.transactions import Database

_EXAMPLES = "sqlite:///path/to/majlis.db or postgresql://user@host/database"


def open_database(url: str) -> Database:
    parsed = parse_database_url(url)
    if parsed.get_backend_name() == "sqlite":
        return SqliteDatabase(_prepared(Path(parsed.database or "")))
    # Imported here, so that users of SQLite do not wait for the import of psycopg.
    from majlis.store.postgres import PostgresDatabase

    return PostgresDatabase(parsed)


def parse_database_url(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ConfigurationError(f"The database URL is not valid. Use {_EXAMPLES}.") from None
    if parsed.drivername not in ("sqlite", "postgresql", "postgres", "postgresql+asyncpg", "postgresql+psycopg"):
        raise ConfigurationError(f"A {parsed.drivername} database is not supported. Use {_EXAMPLES}.")
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise ConfigurationError(f"SQLite needs a file. Use {_EXAMPLES}.")
    return parsed


def shown(url: str) -> str:
    """The URL without its password."""
    return parse_database_url(url).render_as_string(hide_password=True)


def sqlite_path(url: str) -> Path | None:
    parsed = parse_database_url(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


def _prepared(path: Path) -> Path:
    """A new file is readable only by its owner. SQLite gives its other files the same mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT, 0o600))
    except OSError as error:
        raise ConfigurationError(
            f"Cannot create {error.filename} ({error.strerror}). Choose another folder with --data-dir."
        ) from None
    return path
