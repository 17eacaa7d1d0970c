"""Stored messages that cannot be read (R9): each is skipped and logged with the reason, and the rest of the space
works. Messages keep their numbers, so no cursor shifts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import NoneType
from typing import Any, TypeVar

import sqlalchemy as sa
import structlog

from majlis.store.tables import messages
from majlis.store.transactions import Tx

_ERRORS = (ValueError, TypeError, sa.exc.DataError, sa.exc.OperationalError, sqlite3.OperationalError)
_ID_OF = sa.select(messages.c.id).where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)
_PLACE_OF = sa.select(messages.c.space_id, messages.c.seq).where(messages.c.id == sa.bindparam("id"))
_KINDS = frozenset(("text", "tool", "notice"))
_TEXT, _ID = frozenset((str,)), frozenset((str, NoneType))
# The types in the columns of sound messages; `tool` and `origin` are checked separately.
_USUAL = {
    "sender_name": _TEXT,
    "text": _TEXT,
    "kind": _TEXT,
    "reply_to": _ID,
    "client_id": _ID,
    "run_id": _ID,
    "created_at": frozenset((int,)),
    "mentions": frozenset((list, NoneType)),
}
# The first time that Python cannot represent.
_END_OF_TIME = 253_402_300_800_000
_logger = structlog.get_logger(__name__)

Row = TypeVar("Row")


class Unreadable(Exception):
    """A row that cannot be read. The message says why."""


class _Misshapen(ValueError):
    """A row that can be read, but is not a message."""


@dataclass(frozen=True, slots=True)
class Damaged:
    id: str
    seq: int
    reason: str


@contextmanager
def reading() -> Iterator[None]:
    """Raises `Unreadable` for damaged content, such as invalid JSON or UTF-8. An error of a database that is locked or
    unreachable is raised unchanged."""
    try:
        yield
    except _Misshapen as error:
        raise Unreadable(str(error)) from error
    except _ERRORS as error:
        operational = isinstance(error, (sa.exc.OperationalError, sqlite3.OperationalError))
        if operational and "decode" not in str(error).lower():
            raise
        raise Unreadable(f"it cannot be read ({type(error).__name__})") from error


def sound(row: Row) -> Row:
    """Checks the row of a message, which may have only some of the columns. Call it within `reading`: a row whose shape
    its readers do not expect is damaged, too."""
    problem = None if row is None else _problem(row._mapping)  # type: ignore[attr-defined]
    if problem is not None:
        raise _Misshapen(problem)
    return row


def all_sound(rows: Sequence[Row]) -> Sequence[Row]:
    for row in _doubtful(rows) if rows else ():
        sound(row)
    return rows


def _doubtful(rows: Sequence[Any]) -> Sequence[Any]:
    """The rows to check one by one. Every wake-up reads a window, and checking whole columns first costs a fraction of
    checking each row."""
    column = dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))
    if not all(types.issuperset(map(type, column.get(name, ()))) for name, types in _USUAL.items()):
        return rows
    moments, kinds = column.get("created_at", (0,)), column.get("kind", ())
    if not (_KINDS.issuperset(kinds) and _is_moment(min(moments)) and _is_moment(max(moments))):
        return rows
    nothing = (None,) * len(rows)
    if column.get("tool", nothing) == column.get("origin", nothing) == nothing and "tool" not in kinds:
        return ()
    return [row for row in rows if not _is_plain(row)]


def _is_plain(row: Any) -> bool:
    has_no_more = getattr(row, "tool", None) is None and getattr(row, "origin", None) is None
    return has_no_more and getattr(row, "kind", "text") != "tool"


def read_rows(
    tx: Tx, space_id: str, all: Callable[[], Sequence[Any]], numbers: sa.Select[Any], given: Any, one: sa.Select[Any]
) -> Sequence[Any]:
    """Reads all rows at once, and one by one only if that fails: `numbers` selects the numbers that `all` would have
    read, and `one` reads the message with a `seq` in a `space_id`. Each damaged row is logged and replaced by a
    `Damaged`."""
    try:
        with reading():
            return all_sound(all())
    except Unreadable:
        return [_one(tx, space_id, row.seq, one) for row in tx.all(numbers, given)]


def read_named(tx: Tx, statement: sa.Select[Any], ids: Sequence[str], **given: Any) -> list[Any]:
    """Reads the rows with these `ids` at once; if that fails, reads them one by one and leaves out damaged ones."""
    try:
        with reading():
            return list(all_sound(tx.all(statement, {**given, "ids": ids})))
    except Unreadable:
        return [row for each in ids for row in _named(tx, statement, each, given)]


def set_aside_named(tx: Tx, message_id: str, error: Unreadable) -> Damaged:
    """For a message that was requested by its id."""
    place = tx.execute(_PLACE_OF, {"id": message_id}).one()
    return set_aside(place.space_id, Damaged(message_id, place.seq, str(error)))


def set_aside(space_id: str, damaged: Damaged) -> Damaged:
    _logger.warning(
        "a stored message is damaged and was left out",
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
        with reading():
            found = sound(tx.one(statement, given))
    except Unreadable as error:
        return set_aside(space_id, Damaged(which, seq, str(error)))
    return found or set_aside(space_id, Damaged(which, seq, "its sender is unknown"))


def _named(tx: Tx, statement: sa.Select[Any], message_id: str, given: dict[str, Any]) -> Sequence[Any]:
    try:
        with reading():
            return all_sound(tx.all(statement, {**given, "ids": [message_id]}))
    except Unreadable as error:
        set_aside_named(tx, message_id, error)
        return ()


def _problem(column: Mapping[str, Any]) -> str | None:
    if column.get("sender_name", "") is None:
        return "its sender is unknown"
    if not isinstance(column.get("text", ""), str):
        return "its text is not a string"
    if not all(isinstance(column.get(name), str | None) for name in ("reply_to", "client_id", "run_id")):
        return "an id in it is not a string"
    if column.get("kind", "text") not in _KINDS:
        return "its kind is unknown"
    if not _is_tool(column.get("tool"), column.get("kind")):
        return "its tool is not an object"
    if not _is_moment(column.get("created_at", 0)):
        return "its time is not valid"
    if not _is_origin(column.get("origin")):
        return "its origin is not an object"
    if not isinstance(column.get("mentions"), list | None):
        return "its mentions are not a list"
    return None


def _is_tool(kept: Any, kind: Any) -> bool:
    if kept is None:
        return bool(kind != "tool")
    return isinstance(kept, dict) and isinstance(kept.get("answeredBy"), dict | None)


def _is_moment(at: Any) -> bool:
    return isinstance(at, int) and 0 <= at < _END_OF_TIME


def _is_origin(kept: Any) -> bool:
    if not isinstance(kept, dict):
        return kept is None
    if isinstance(kept.get("kind"), str):
        return True
    return not kept or all(isinstance(kept.get(name), str) for name in ("sourceSpace", "sourceEvent"))
