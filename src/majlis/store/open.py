"""From a database URL to an open database whose schema fits this program."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from majlis.errors import ConfigurationError
from majlis.store.sqlite import SqliteDatabase
from majlis.store.transactions import Database

_EXAMPLES = "sqlite:///path/to/majlis.db or postgresql://user@host/database"


def open_database(url: str) -> Database:
    parsed = parse_database_url(url)
    if parsed.get_backend_name() == "sqlite":
        return SqliteDatabase(_sqlite_path(parsed))
    # Imported here: whoever keeps everything in one file would wait for a driver that is never used.
    from majlis.store.postgres import PostgresDatabase

    return PostgresDatabase(parsed)


def parse_database_url(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ConfigurationError(f"The database URL cannot be read. Give {_EXAMPLES}.") from None
    if parsed.drivername not in ("sqlite", "postgresql", "postgres", "postgresql+asyncpg"):
        raise ConfigurationError(f"A {parsed.drivername} database is not supported. Give {_EXAMPLES}.")
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise ConfigurationError(f"SQLite needs a file. Give {_EXAMPLES}.")
    return parsed


def shown(url: str) -> str:
    """The URL without its password, for logs and for people."""
    return parse_database_url(url).render_as_string(hide_password=True)


def _sqlite_path(url: sa.URL) -> Path:
    path = Path(url.database or "")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {path.parent} cannot be made ({error.strerror}). Choose another with --data-dir."
        ) from None
    return path
