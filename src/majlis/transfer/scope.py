"""What of each table is exported: everything of the gateway, or what belongs to one space.

A space travels without what its agents keep for themselves (memories, goals, plans, cycles): those speak of their
other spaces too. It also says nothing of roles on the gateway, nor of other spaces (and within a column:
`discretion.py`): such keys are left out, which means "not said" and is neither written nor compared on import. The
gateway's own voice has the same id everywhere and does not travel.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from majlis.entities.caller import SYSTEM
from majlis.errors import ConfigurationError
from majlis.store.tables import spaces
from majlis.store.transactions import Tx
from majlis.transfer.fields import Field
from majlis.transfer.tables import Kind

ScopeName = Literal["gateway", "space"]

_OF_AGENTS = {"memory", "goal", "plan", "cycle"}


@dataclass(frozen=True, slots=True)
class Scope:
    """`space_id` is None for the whole gateway."""

    space_id: str | None = None

    @property
    def name(self) -> ScopeName:
        return "gateway" if self.space_id is None else "space"


def find_scope(tx: Tx, space: str | None) -> Scope:
    """By id or by name. Names of spaces are not unique, so a name may not be enough."""
    if space is None:
        return Scope()
    wanted = unicodedata.normalize("NFC", space)
    named = sa.or_(spaces.c.id == wanted, spaces.c.name == wanted)
    found = [row.id for row in tx.all(sa.select(spaces.c.id).where(spaces.c.deleted_at.is_(None), named).limit(9))]
    if not found:
        raise ConfigurationError(f'There is no space "{space}" here. Give its id or its exact name.')
    if len(found) > 1:
        raise ConfigurationError(f'Several spaces are called "{space}": {", ".join(found)}. Give the id of one.')
    return Scope(found[0])


def parts(kind: Kind, scope: Scope) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions whose rows follow one another in the file. Living owners come first: an import into a fresh gateway
    has to see one before anybody else (see owner.py)."""
    chosen = _chosen(kind, scope)
    if kind.name == "entity" and scope.space_id is None:
        owner = sa.and_(kind.table.c.role == "owner", kind.table.c.deleted_at.is_(None))
        yield owner
        yield sa.and_(sa.not_(owner), kind.table.c.id != SYSTEM.id)
    elif chosen is not None:
        yield chosen


def selected(kind: Kind, scope: Scope) -> list[tuple[Field, sa.ColumnElement[Any], bool]]:
    """Each field with what is read for it, and whether a null means "not said"."""
    if scope.space_id is None:
        return [(each, each.column, False) for each in kind.fields]
    unsaid = {"role"} if kind.name == "entity" else set()
    return [(each, *_within(kind, each, scope.space_id)) for each in kind.fields if each.name not in unsaid]


def ordered(kind: Kind, scope: Scope) -> tuple[sa.Column[Any], ...]:
    """Messages in the order of writing, which search relies on; within one space that is the order of numbers."""
    if kind.name == "message":
        return (kind.table.c.n,) if scope.space_id is None else (kind.table.c.seq,)
    return tuple(kind.table.primary_key.columns)


def _chosen(kind: Kind, scope: Scope) -> sa.ColumnElement[bool] | None:
    table, tables = kind.table, kind.table.metadata.tables
    if scope.space_id is None:
        if kind.name not in ("member", "message", "phase", "turn", "card"):
            return sa.true()
        # Of a deleted space only the tombstone is left; what was said there is about to be swept.
        # NOT IN, so that no database thinks of going through it space by space and sorting that for each page.
        deleted = tables["spaces"]
        return table.c.space_id.not_in(sa.select(deleted.c.id).where(deleted.c.deleted_at.is_not(None)))
    if kind.name in _OF_AGENTS:
        return None
    match kind.name:
        case "entity" | "agent":
            return sa.and_(table.c.id.in_(_participants(kind, scope.space_id)), table.c.id != SYSTEM.id)
        case "space":
            return table.c.id == scope.space_id
        case "run":
            return table.c.trigger_space_id == scope.space_id
        case "step":
            return table.c.run_id.in_(_runs(kind, scope.space_id))
        case "card":
            return sa.and_(table.c.space_id == scope.space_id, table.c.run_id.in_(_runs(kind, scope.space_id)))
    return table.c.space_id == scope.space_id


def _participants(kind: Kind, space_id: str) -> sa.CompoundSelect[str]:
    """Everybody whom another line of the space's export names."""
    table = kind.table.metadata.tables
    columns = [
        (table["members"].c.entity_id, table["members"].c.space_id),
        (table["messages"].c.sender_id, table["messages"].c.space_id),
        (table["phases"].c.entity_id, table["phases"].c.space_id),
        (table["spaces"].c.orchestrator_id, table["spaces"].c.id),
        (table["deliveries"].c.agent_id, table["deliveries"].c.space_id),
        (table["runs"].c.agent_id, table["runs"].c.trigger_space_id),
        (table["cards"].c.answered_by, table["cards"].c.space_id),
    ]
    return sa.union(*(sa.select(who).where(where == space_id, who.is_not(None)) for who, where in columns))


def _within(kind: Kind, each: Field, space_id: str) -> tuple[sa.ColumnElement[Any], bool]:
    """A reference that may be null is said only where it leads to this space or to one of its runs."""
    targets = [table.name for field, table in kind.references if field is each]
    if not each.column.nullable or not {"spaces", "runs"} & set(targets):
        return each.column, False
    inside = each.column == space_id if targets == ["spaces"] else each.column.in_(_runs(kind, space_id))
    return sa.case((inside, each.column)), True


def _runs(kind: Kind, space_id: str) -> sa.Select[tuple[str]]:
    runs = kind.table.metadata.tables["runs"]
    return sa.select(runs.c.id).where(runs.c.trigger_space_id == space_id)
