"""Stored messages that cannot be read (R9): each is set aside with its reason and named in the log, and the rest of the
space goes on. By number, so that what is set aside shifts nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
import structlog

from majlis.store.tables import messages
from majlis.store.transactions import Tx

# What reading a row may raise: JSON that is none, text that is no UTF-8.
UNREADABLE = (ValueError, TypeError, sa.exc.DataError, sa.exc.OperationalError, sqlite3.OperationalError)
_ID_OF = sa.select(messages.c.id).where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Damaged:
    id: str
    seq: int
    reason: str


def read_rows(
    tx: Tx, space_id: str, all: Callable[[], Sequence[Any]], numbers: sa.Select[Any], given: Any, one: sa.Select[Any]
) -> list[Any]:
    """All at once. Only if that fails one after the other: `numbers` are those that `all` would have read, `one` reads
    the message of a `space_id` with a `seq`. In the place of what is damaged stands a `Damaged`."""
    try:
        return list(all())
    except UNREADABLE:
        return [_one(tx, space_id, row.seq, one) for row in tx.all(numbers, given)]


def readable(
    tx: Tx, space_id: str, all: Callable[[], Sequence[Any]], numbers: sa.Select[Any], given: Any, one: sa.Select[Any]
) -> Sequence[Any]:
    """As `read_rows`, without what is damaged, which is named in the log."""
    try:
        return all()
    except UNREADABLE:
        rows = [_one(tx, space_id, row.seq, one) for row in tx.all(numbers, given)]
        for row in rows:
            if isinstance(row, Damaged):
                set_aside(space_id, row)
        return [row for row in rows if not isinstance(row, Damaged)]


def set_aside(space_id: str, damaged: Damaged) -> Damaged:
    _logger.warning(
        "a stored message is damaged and is set aside",
        space=space_id,
        message=damaged.id,
        number=damaged.seq,
        reason=damaged.reason,
    )
    return damaged


def _one(tx: Tx, space_id: str, seq: int, statement: sa.Select[Any]) -> Any:
    given = {"space_id": space_id, "seq": seq}
    which = tx.execute(_ID_OF, given).scalar_one()
    try:
        found = tx.one(statement, given)
    except UNREADABLE as error:
        return Damaged(which, seq, f"it cannot be read ({type(error).__name__})")
    return found if found is not None else Damaged(which, seq, "its sender is unknown")
