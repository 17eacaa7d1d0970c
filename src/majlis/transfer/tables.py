"""What travels: one description for each table. Columns travel unless they are named here with the reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, create_model

from majlis.store.tables import metadata
from majlis.transfer.fields import Field as Column
from majlis.transfer.fields import accepted, fields_of

NOT_EXPORTED = {
    "tokens": "secrets, even as hashes: whoever moves gets a new token or sign-in link",
    "events": "the live log belongs to one gateway; clients of another one start afresh",
    "views": "what models were shown: large, and kept for a set time only",
    "pasts": "what of a consciousness is shown by summaries follows from its cycles",
    "gateway": "facts about one gateway: its own id and the mark of its key",
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
_LOG = "the target keeps its own event log"
_LEASE = "a lease is held by a worker of one gateway; the next one takes its own"


@dataclass(frozen=True)
class Kind:
    """A type of line: `name` is its `type`. `key` finds the row again, `positions` only move forward, `numbers` are
    message numbers of the row's space and cannot lie beyond its newest, the `agents_only` are ids of agents, and
    `page` is how many rows are held in memory at once."""

    name: str
    table: sa.Table
    stays: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ("id",)
    positions: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    agents_only: tuple[str, ...] = ()
    page: int = 200

    @cached_property
    def fields(self) -> tuple[Column, ...]:
        return fields_of(self.table, self.name, frozenset(self.stays))

    @cached_property
    def line(self) -> type[BaseModel]:
        """Validates a line of this type: every key known, every value of its column's type."""
        columns: dict[str, Any] = {
            each.name: (accepted(each, self._prefix(each)), Field(None if each.optional else ..., alias=each.wire))
            for each in self.fields
        }
        strict = ConfigDict(extra="forbid", strict=True)
        return create_model(f"{self.name.capitalize()}Line", __config__=strict, **columns)

    @cached_property
    def references(self) -> tuple[tuple[Column, sa.Table], ...]:
        return tuple((each, reference.column.table) for each in self.fields for reference in each.column.foreign_keys)

    def key_of(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(values[name] for name in self.key)

    def _prefix(self, each: Column) -> str | None:
        for _, table in ((c, t) for c, t in self.references if c is each):
            return _PREFIXES[table.name]
        return _PREFIXES.get(self.table.name) if each.name == "id" else None


def describe(metadata: sa.MetaData) -> tuple[Kind, ...]:
    """In an order in which no line refers to a later one."""
    table = metadata.tables
    return (
        Kind("entity", table["entities"], {"name_key": "follows from the name", "event_seq": _LOG}),
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
        Kind("message", table["messages"], {"n": "the order of writing on one database"}, numbers=("seq",)),
        Kind("phase", table["phases"], numbers=("at_seq",)),
        Kind("turn", table["turns"]),
        Kind("memory", table["memories"], key=("agent_id", "key")),
        Kind("goal", table["goals"], key=("agent_id", "id")),
        Kind("plan", table["plans"]),
        Kind("run", table["runs"], {"lease_owner": _LEASE, "lease_until": _LEASE, "fence": _LEASE}, page=100),
        Kind("step", table["steps"], {"secret": "a secret stays where it was given"}, key=("run_id", "n"), page=50),
        Kind("card", table["cards"], page=100),
        Kind("delivery", table["deliveries"], page=100),
        Kind("cycle", table["cycles"], key=("agent_id", "n"), page=20),
    )


KINDS = describe(metadata)
BY_NAME = {kind.name: kind for kind in KINDS}
