"""The line types of an export, one per table. A column is exported unless it is named here with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import orjson
import pydantic
import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator
from pydantic.alias_generators import to_camel

from majlis import clock
from majlis.spaces.post import refuse_controls
from majlis.store import ids
from majlis.store.tables import metadata
from majlis.store.tables.columns import Key, Moment

VERSION = 1
NOT_EXPORTED = {
    "tokens": "secrets, even as hashes; people get a new token or sign-in link",
    "events": "the live log belongs to one gateway; its clients reload everything elsewhere",
    "views": "what models were shown: large, and kept for a limited time",
    "pasts": "the compaction of a consciousness is computed from its cycles",
    "gateway": "the id and key fingerprint of one gateway",
}

_PREFIXES = {
    "entities": "ent",
    "agents": "ent",
    "spaces": "spc",
    "messages": "msg",
    "phases": "phs",
    "turns": "trn",
    "plans": "pln",
    "runs": "run",
    "deliveries": "dlv",
    "cards": "crd",
}
_LOG = "the target has its own event log"
_LEASE = "leases belong to the workers of one gateway"
_LAST_MOMENT = 253_402_300_799_999  # the end of the year 9999, the last in ISO 8601
_SAFE_INTEGER = 2**53 - 1  # the largest integer that is exact in JavaScript


@dataclass(frozen=True)
class Field:
    """A column on the wire. Its key, format and validation follow from the column."""

    column: sa.Column[Any]
    wire: str

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def optional(self) -> bool:
        """If the key is missing, the column gets its default."""
        return bool(self.column.nullable) or self.column.server_default is not None

    @property
    def target(self) -> sa.Table | None:
        """The table that the column refers to."""
        return next((reference.column.table for reference in self.column.foreign_keys), None)

    @property
    def annotation(self) -> Any:
        """The column's type for pydantic, with its length, range, choices and format."""
        required = self._required()
        return required | None if self.column.nullable else required

    def write(self, value: Any) -> Any:
        return clock.iso(value) if value is not None and self.column.type is Moment else value

    def _required(self) -> Any:
        kind = self.column.type
        if choices := _choices(self.column):
            return Literal[choices]
        if kind is Key:
            return Annotated[str, AfterValidator(_id(self._prefix()))]
        if kind is Moment:
            return Annotated[int, BeforeValidator(_moment)]
        if isinstance(kind, sa.JSON):
            return Annotated[object, AfterValidator(_json(self.column.nullable))]
        if isinstance(kind, sa.Boolean):
            return bool
        if isinstance(kind, sa.String):
            controls = AfterValidator(lambda text: refuse_controls(text, self.wire))
            return Annotated[str, pydantic.Field(max_length=kind.length), controls]
        if isinstance(kind, sa.Integer):
            most = _SAFE_INTEGER if isinstance(kind, sa.BigInteger) else 2**31 - 1
            return Annotated[int, pydantic.Field(ge=-most, le=most)]
        raise TypeError(f"{self.column} has a type that transfer/tables.py does not know")

    def _prefix(self) -> str | None:
        if self.target is not None:
            return _PREFIXES[self.target.name]
        return _PREFIXES.get(self.column.table.name) if self.name == "id" else None


def _choices(column: sa.Column[Any]) -> tuple[str, ...]:
    """Read from the table's CHECK constraint (see `one_of`)."""
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


def _json(nullable: bool | None) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value is None and not nullable:
            raise ValueError("should not be null")
        try:
            orjson.dumps(value)
        except TypeError:
            raise ValueError("is nested too deeply") from None
        return value

    return check


@dataclass(frozen=True)
class Kind:
    """A type of line; `name` is its `type`.

    `stays` has the columns that are not exported, with reasons. `key` identifies a row. `positions` only move forward.
    `numbers` are message numbers of the row's space. `agents_only` are ids of agents. `page` is the number of rows
    that are held in memory at once.
    """

    name: str
    table: sa.Table
    stays: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ("id",)
    positions: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    agents_only: tuple[str, ...] = ()
    page: int = 200

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        # Every line has its own `type`; a column with this name becomes `entityType`.
        wire = {"type": f"{self.name}Type"}
        columns = (column for column in self.table.c if column.name not in self.stays)
        return tuple(Field(column, wire.get(column.name) or to_camel(str(column.name))) for column in columns)

    @cached_property
    def line(self) -> type[pydantic.BaseModel]:
        """Validates a line of this type: every key is known, every value fits its column."""
        columns: dict[str, Any] = {
            each.name: (each.annotation, pydantic.Field(None if each.optional else ..., alias=each.wire))
            for each in self.fields
        }
        strict = pydantic.ConfigDict(extra="forbid", strict=True)
        return pydantic.create_model(f"{self.name.capitalize()}Line", __config__=strict, **columns)

    @cached_property
    def references(self) -> tuple[tuple[Field, sa.Table], ...]:
        return tuple((each, each.target) for each in self.fields if each.target is not None)

    def key_of(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(values[name] for name in self.key)


def describe(metadata: sa.MetaData) -> tuple[Kind, ...]:
    """In an order in which no line refers to a later one."""
    table = metadata.tables
    return (
        Kind("entity", table["entities"], {"name_key": "computed from the name", "event_seq": _LOG}),
        Kind(
            "space",
            table["spaces"],
            {"event_seq": _LOG, "event_at": _LOG},
            positions=("head_seq",),
            agents_only=("orchestrator_id",),
        ),
        Kind("agent", table["agents"], agents_only=("id",)),
        Kind(
            "member",
            table["members"],
            key=("space_id", "entity_id"),
            positions=("processed_seq", "seen_seq"),
            numbers=("processed_seq", "seen_seq"),
        ),
        Kind("message", table["messages"], {"n": "the insertion order in one database"}, numbers=("seq",)),
        Kind("phase", table["phases"], numbers=("at_seq",)),
        Kind("turn", table["turns"]),
        Kind("memory", table["memories"], key=("agent_id", "key")),
        Kind("goal", table["goals"], key=("agent_id", "id")),
        Kind("plan", table["plans"]),
        Kind("run", table["runs"], {"lease_owner": _LEASE, "lease_until": _LEASE, "fence": _LEASE}, page=100),
        Kind("step", table["steps"], {"secret": "secrets are not exported"}, key=("run_id", "n"), page=50),
        Kind("card", table["cards"], page=100),
        Kind("delivery", table["deliveries"], page=100),
        Kind("cycle", table["cycles"], key=("agent_id", "n"), page=20),
    )


KINDS = describe(metadata)
BY_NAME = {kind.name: kind for kind in KINDS}
