"""The line types of an export, one per table. A column is exported unless it is named here with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Annotated, Any, Literal, NotRequired

import orjson
import pydantic
import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from majlis import clock
from majlis.spaces.post import refuse_controls
from majlis.store import ids
from majlis.store.tables import metadata
from majlis.store.tables.columns import Key, Moment

VERSION = 1
NOT_EXPORTED = {
    "tokens": "secrets, even as hashes; people get a new token or sign-in link",
    "secrets": "values are encrypted with the key of one gateway; an admin stores them again",
    "connected_models": "their keys belong to one gateway; an admin connects them again",
    "events": "the live log belongs to one gateway; its clients reload everything elsewhere",
    "views": "what models were shown: large, and kept for a limited time",
    "pasts": "the compaction of a consciousness is computed from its cycles",
    "blocks": "each person chooses again on another gateway",
    "incoming_webhooks": "their addresses and secrets belong to one gateway",
    "outgoing_webhooks": "their secrets are encrypted with the key of one gateway; an admin creates them again",
    "webhook_cursors": "positions in the live log of one gateway",
    "webhook_deliveries": "the queue of one gateway, about its live log",
    "agent_versions": "the history of one gateway; the current config is exported",
    "invites": "their links belong to one gateway",
    "conversations": "names that clients of one gateway use; their next request begins a new space",
    "push_subscriptions": "browsers subscribe with the key of one gateway",
    "push_cursors": "positions in the live log of one gateway",
    "pushes": "the queue of one gateway",
    "summaries": "made again by the target's own model when it needs them",
    "summary_requests": "what one gateway has spent",
    "erasures": "the work of one gateway; the messages have no text any more",
    "tickets": "they hold for seconds, for runs of one gateway",
    "additions": "a counter of one day",
    "plan_firings": "a counter of one day",
    "blobs": "where one file store keeps the content; the lines of type content bring the bytes",
    "audit": "sealed with the key of one gateway; keep it with `majlis audit --json`",
    "gateway": "the id and key fingerprint of one gateway",
    "spend": "counted by the workers of one gateway; what was used is computed from its runs",
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
    "asks": "ask",
    "files": "fil",
    "causes": "cau",
}
# Keys of earlier versions, by type of line.
RENAMED = {"message": {"rootCause": "causedBy"}}
_LOG = "the target has its own event log"
_NAME = "computed from the name"
_STORE = "the target has its own file store"
_LEASE = "leases belong to the workers of one gateway"
_LAST_MOMENT = 253_402_300_799_999  # the end of the year 9999, the last in ISO 8601
_SAFE_INTEGER = 2**53 - 1  # the largest integer that is exact in JavaScript


@dataclass(frozen=True)
class Field:
    """A column on the wire. Its key, format and validation follow from the column."""

    column: sa.Column[Any]
    wire: str

    @cached_property
    def name(self) -> str:
        return str(self.column.name)

    @property
    def is_moment(self) -> bool:
        return self.column.type is Moment

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

    def _required(self) -> Any:
        kind = self.column.type
        if choices := _choices(self.column):
            return Literal[choices]
        if kind is Key:
            return Annotated[str, pydantic.Field(pattern=ids.pattern(self._prefix()))]
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
        if isinstance(kind, sa.Float):
            return Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]
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
    def validate(self) -> Callable[[dict[str, Any]], dict[str, Any]]:
        """From keys to columns, in the order of the table: every key is known, every value fits its column."""
        wires = {each.name: each.wire for each in self.fields}
        columns: dict[str, Any] = {
            each.name: NotRequired[each.annotation] if each.optional else each.annotation for each in self.fields
        }
        config = pydantic.ConfigDict(extra="forbid", strict=True, alias_generator=wires.__getitem__)
        line: Any = TypedDict("line", columns)  # type: ignore[misc]
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(pydantic.with_config(config)(line))
        return adapter.validate_python

    @cached_property
    def numbered(self) -> tuple[Field, ...]:
        return tuple(each for each in self.fields if each.name in self.numbers)

    @cached_property
    def references(self) -> tuple[tuple[Field, sa.Table], ...]:
        return tuple((each, each.target) for each in self.fields if each.target is not None)

    @cached_property
    def key_of(self) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
        if len(self.key) > 1:
            return itemgetter(*self.key)
        (name,) = self.key
        return lambda values: (values[name],)


def describe(metadata: sa.MetaData) -> tuple[Kind, ...]:
    """The types in an order in which no line refers to a later one."""
    table = metadata.tables
    return (
        Kind(
            "entity", table["entities"], {"name_key": _NAME, "look_key": _NAME, "event_seq": _LOG, "active_until": _LOG}
        ),
        Kind("picture", table["pictures"], key=("entity_id",), page=50),
        Kind("preferences", table["preferences"], key=("entity_id",)),
        Kind(
            "space",
            table["spaces"],
            {"event_seq": _LOG, "event_at": _LOG, "summarised_seq": "the target makes its own summaries"},
            positions=("head_seq",),
            agents_only=("orchestrator_id",),
        ),
        Kind("agent", table["agents"], {"outside": "computed from the config"}, agents_only=("id",)),
        Kind("cause", table["causes"]),
        Kind("budget", table["budgets"], key=("scope", "scope_id")),
        Kind(
            "member",
            table["members"],
            key=("space_id", "entity_id"),
            positions=("processed_seq", "seen_seq"),
            numbers=("processed_seq", "seen_seq"),
        ),
        Kind(
            "message",
            table["messages"],
            {"n": "the insertion order in one database", "files": "computed from its attachments"},
            numbers=("seq",),
        ),
        Kind("file", table["files"], {"blob": _STORE, "collect_at": _STORE, "upload_key": "for repeated requests"}),
        Kind("attachment", table["attachments"], {"space_id": "the message's"}, key=("message_id", "file_id")),
        Kind("version", table["versions"], key=("message_id", "n"), numbers=("at_seq",)),
        Kind("phase", table["phases"], numbers=("at_seq",)),
        Kind("turn", table["turns"]),
        Kind("memory", table["memories"], key=("agent_id", "scope_id", "key")),
        Kind("goal", table["goals"], key=("agent_id", "scope_id", "id")),
        Kind("plan", table["plans"]),
        Kind("run", table["runs"], {"lease_owner": _LEASE, "lease_until": _LEASE, "fence": _LEASE}, page=100),
        Kind("step", table["steps"], {"secret": "secrets are not exported"}, key=("run_id", "n"), page=50),
        Kind("answer", table["wait_answers"], key=("run_id", "wait_n", "entity_id")),
        Kind("card", table["cards"], page=100),
        Kind("ask", table["asks"], page=100),
        Kind("askAnswer", table["ask_answers"], key=("ask_id", "entity_id")),
        Kind("delivery", table["deliveries"], page=100),
        Kind("cycle", table["cycles"], key=("agent_id", "n"), page=20),
    )


KINDS = describe(metadata)
BY_NAME = {kind.name: kind for kind in KINDS}
