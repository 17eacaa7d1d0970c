"""Temporary faults of the database: the same work may succeed a moment later. They are never the fault of a request or
an agent."""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

from majlis.store.tables import gateway
from majlis.store.transactions import Tx

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
# libpq does not pass on the code of a server that refuses a connection, only its text. A server that cannot be reached,
# is starting up or has no free connection may accept one later. These do not pass.
_REFUSALS = (
    "authentication failed",
    "does not exist",
    "no password supplied",
    "no pg_hba.conf entry",
    "not permitted to log in",
    "permission denied",
)
_PROBE = "last_write_probe"


def is_passing(error: BaseException) -> bool:
    if isinstance(error, sa.exc.DBAPIError):
        if error.connection_invalidated or isinstance(error, sa.exc.InterfaceError) or _is_passing(error.orig):
            return True
        refused = isinstance(error, sa.exc.OperationalError) and getattr(error.orig, "sqlstate", "") is None
        return refused and not any(each in str(error.orig) for each in _REFUSALS)
    # The pool had no connection, or none could be opened.
    return isinstance(error, (OSError, sa.exc.TimeoutError)) or _is_passing(error)


def is_full(error: BaseException) -> bool:
    """The disk, or the space that the database may use."""
    origin = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    if isinstance(origin, sqlite3.Error):
        return (getattr(origin, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_FULL
    return getattr(origin, "sqlstate", None) == "53100"


def probe_write(tx: Tx) -> None:
    """A small real write, to find out whether the database can be written."""
    value = {"value": str(tx.now)}
    if tx.execute(gateway.update().where(gateway.c.key == _PROBE), value).rowcount == 0:
        tx.execute(gateway.insert(), {"key": _PROBE, **value})


def _is_passing(error: BaseException | None) -> bool:
    if isinstance(error, sqlite3.Error):
        # An extended code holds the primary one in its last byte.
        return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_CODES
    state = getattr(error, "sqlstate", None)
    return isinstance(state, str) and state.startswith(_SQLSTATES)
