"""Records what every committed transaction has changed, with triggers in the simulated database. So promises can be
checked during a schedule, too: no status goes backwards, no cursor moves too early."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

CHANGES_TABLE = "prove_changes"
CHANGES = "CREATE TABLE prove_changes (n INTEGER PRIMARY KEY, kind, id, of, before, after, more, owner)"
_INSERT = "INSERT INTO prove_changes (kind, id, of, before, after, more, owner) VALUES"
_RUN = "new.id, new.agent_id, {before}, new.status, new.fence, {owner}"
_DELIVERY = "new.id, new.agent_id, {before}, new.state, new.run_id, NULL"
_TRIGGERS = (
    ("INSERT ON runs", "1", f"'run', {_RUN.format(before='NULL', owner='NULL')}"),
    ("UPDATE OF status, fence, ended_at ON runs",
     "old.status <> new.status OR old.fence <> new.fence OR old.ended_at IS NOT NULL",
     f"'run', {_RUN.format(before='old.status', owner='old.lease_owner')}"),
    ("UPDATE OF lease_until ON runs", "old.lease_owner IS new.lease_owner AND new.lease_owner IS NOT NULL",
     "'lease', new.id, new.agent_id, NULL, NULL, NULL, old.lease_owner"),
    ("INSERT ON deliveries", "1", f"'delivery', {_DELIVERY.format(before='NULL')}"),
    ("UPDATE OF state, run_id ON deliveries", "old.state <> new.state OR old.run_id IS NOT new.run_id",
     f"'delivery', {_DELIVERY.format(before='old.state')}"),
    ("UPDATE OF processed_seq ON members", "old.processed_seq IS NOT new.processed_seq",
     "'cursor', new.space_id, new.entity_id, old.processed_seq, new.processed_seq, NULL, NULL"),
    ("UPDATE OF state ON cards", "old.state <> new.state",
     "'card', new.id, new.agent_id, old.state, new.state, NULL, NULL"),
)  # fmt: skip


class Change(NamedTuple):
    """`of` is the agent. `more` is a run's fence, or the run that has a delivery. `owner` is the worker that had the
    run's lease before, `node` the one that changed it."""

    transaction: int
    node: str
    kind: str
    id: str
    of: str
    before: str | None
    after: str | None
    more: str | None
    owner: str | None


@dataclass
class History:
    changes: list[Change] = field(default_factory=list)
    transactions: int = 0
    # Told of every change.
    tell: Callable[[Change], None] = lambda _: None

    def read(self, node: str, raw: sqlite3.Connection) -> list[Change]:
        """The changes of a transaction that is about to commit."""
        rows = raw.execute("SELECT kind, id, of, before, after, more, owner FROM prove_changes ORDER BY n").fetchall()
        if rows:
            raw.execute("DELETE FROM prove_changes")
        return [Change(self.transactions + 1, node, *row) for row in rows]

    def add(self, changes: list[Change]) -> None:
        """The transaction has committed."""
        self.transactions += 1
        self.changes += changes
        for change in changes:
            self.tell(change)


def write_triggers(raw: sqlite3.Connection) -> None:
    for n, (event, condition, values) in enumerate(_TRIGGERS):
        raw.execute(f"CREATE TRIGGER prove_{n} AFTER {event} WHEN {condition} BEGIN {_INSERT} ({values}); END")
