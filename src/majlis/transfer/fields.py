"""A column on the wire: its key, how it is written, and what is accepted for it. All of it follows from the column."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator
from pydantic import Field as Limits

from majlis import clock
from majlis.spaces.text import refuse_controls
from majlis.store import ids
from majlis.store.tables.columns import Key, Moment

_LAST_MOMENT = 253_402_300_799_999  # the end of the year 9999, which is where ISO 8601 ends
_SAFE_INTEGER = 2**53 - 1  # what JavaScript can count to


@dataclass(frozen=True)
class Field:
    column: sa.Column[Any]
    name: str
    wire: str

    @property
    def optional(self) -> bool:
        """A key that is not there leaves the column at its default."""
        return bool(self.column.nullable) or self.column.server_default is not None

    def write(self, value: Any) -> Any:
        return clock.iso(value) if value is not None and self.column.type is Moment else value


def fields_of(table: sa.Table, type: str, without: frozenset[str]) -> tuple[Field, ...]:
    columns = (column for column in table.c if column.name not in without)
    return tuple(Field(column, column.name, _wire(column.name, type)) for column in columns)


def accepted(field: Field, id_prefix: str | None) -> Any:
    """The column's type as an annotation for pydantic, with its length, range, choices and shape."""
    required = _required(field, id_prefix)
    return required | None if field.column.nullable else required


def _wire(name: str, type: str) -> str:
    """Every line has its own `type`; a column of that name is called after the line: `entityType`."""
    if name == "type":
        return f"{type}Type"
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _required(field: Field, id_prefix: str | None) -> Any:
    kind = field.column.type
    choices = _choices(field.column)
    if choices:
        return Literal[choices]
    if kind is Key:
        return Annotated[str, AfterValidator(_id(id_prefix))]
    if kind is Moment:
        return Annotated[int, BeforeValidator(_moment)]
    if isinstance(kind, sa.JSON):
        return Annotated[object, AfterValidator(_json if field.column.nullable else _json_value)]
    if isinstance(kind, sa.Boolean):
        return bool
    if isinstance(kind, sa.String):
        return Annotated[str, Limits(max_length=kind.length), AfterValidator(_text(field.wire))]
    if isinstance(kind, sa.Integer):
        most = _SAFE_INTEGER if isinstance(kind, sa.BigInteger) else 2**31 - 1
        return Annotated[int, Limits(ge=-most, le=most)]
    raise TypeError(f"{field.column} has a type that transfer/fields.py does not know yet")


def _choices(column: sa.Column[Any]) -> tuple[str, ...]:
    """From the table's own CHECK (see `one_of`), so that there is one list."""
    for constraint in column.table.constraints:
        if isinstance(constraint, sa.CheckConstraint):
            listed = re.fullmatch(rf"{column.name} IN \((.*)\)", str(constraint.sqltext))
            if listed:
                return tuple(re.findall(r"'([^']*)'", listed[1]))
    return ()


def _id(prefix: str | None) -> Callable[[str], str]:
    def check(value: str) -> str:
        if not ids.looks_like_id(value) or not value.startswith(f"{prefix}_" if prefix else ""):
            raise ValueError(f"should be an id like {prefix or 'msg'}_0123456789abcdef")
        return value

    return check


def _moment(value: object) -> int:
    at = clock.parse_iso(value) if isinstance(value, str) else -1
    if not 0 <= at <= _LAST_MOMENT:
        raise ValueError("should be a time like 2026-02-18T15:07:00.000Z")
    return at


def _json(value: object) -> object:
    try:
        orjson.dumps(value)
    except TypeError:
        raise ValueError("is nested too deeply") from None
    return value


def _json_value(value: object) -> object:
    if value is None:
        raise ValueError("should not be null")
    return _json(value)


def _text(wire: str) -> Callable[[str], str]:
    return lambda value: refuse_controls(value, wire)
