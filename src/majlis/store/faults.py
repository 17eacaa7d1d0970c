"""Passing faults of the database: the same work may succeed in a moment. They are never the fault of a request or an
agent."""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

# PostgreSQL: connection, insufficient resources (disk full, too many connections), shutdown and start-up, lock timeout,
# deadlock, a transaction that was idle for too long, input and output.
_SQLSTATES = ("08", "53", "57P", "55P03", "40001", "40P01", "25P03", "58030")
_SQLITE_CODES = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}


def is_passing(error: BaseException) -> bool:
    if isinstance(error, sa.exc.DBAPIError):
        return error.connection_invalidated or isinstance(error, sa.exc.InterfaceError) or _is_passing(error.orig)
    # The pool had no connection, or none could be opened. asyncpg raises its own errors while it connects.
    return isinstance(error, (OSError, sa.exc.TimeoutError)) or _is_passing(error)


def _is_passing(error: BaseException | None) -> bool:
    if isinstance(error, sqlite3.Error):
        # An extended code holds the primary one in its last byte.
        return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_CODES
    state = getattr(error, "sqlstate", None)
    return isinstance(state, str) and state.startswith(_SQLSTATES)
