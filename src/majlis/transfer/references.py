"""Whether what a line points at is here: rows of other tables, and message numbers of its space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.store.tables import entities, spaces
from majlis.store.transactions import Tx
from majlis.transfer.checking import Line
from majlis.transfer.tables import Kind
from majlis.transfer.verdicts import Asides

Reasons = dict[int, str]
"""By line number."""


def missing_references(tx: Tx, kind: Kind, lines: Sequence[Line], asides: Asides) -> Reasons:
    reasons: Reasons = {}
    for each, table in kind.references:
        wanted = {line.values[each.name] for line in lines if line.values.get(each.name) is not None}
        here = _here(tx, table, wanted, agents_only=each.name in kind.agents_only)
        for line in lines:
            target = line.values.get(each.name)
            if target is not None and target not in here:
                reasons.setdefault(line.raw.number, _reason(each.wire, table, target, asides))
    return reasons


def wrong_numbers(tx: Tx, kind: Kind, lines: Sequence[Line]) -> Reasons:
    """A number beyond the space's newest message would make a negative unread count, or a hole."""
    if not kind.numbers:
        return {}
    wanted = {line.values["space_id"] for line in lines}
    here = {row.id: row for row in tx.all(sa.select(spaces).where(spaces.c.id.in_(wanted)))} if wanted else {}
    found = {line.raw.number: _problem(kind, line, here.get(line.values["space_id"])) for line in lines}
    return {number: reason for number, reason in found.items() if reason}


def _here(tx: Tx, table: sa.Table, wanted: set[str], agents_only: bool) -> set[str]:
    if not wanted:
        return set()
    statement = sa.select(table.c.id).where(table.c.id.in_(wanted))
    if agents_only:
        statement = statement.where(entities.c.type == "agent")
    return {row.id for row in tx.all(statement)}


def _reason(wire: str, table: sa.Table, id: str, asides: Asides) -> str:
    why = asides.get((table.name, id))
    if why is not None:
        return f"depends on {id} ({wire}), which was set aside: {why}"[:1000]
    return f"{wire} leads to {id}, which is not here and not in the file before this line, or is of another type"


def _problem(kind: Kind, line: Line, space: sa.Row[Any] | None) -> str:
    if space is None:
        return ""
    if space.deleted_at is not None:
        return f"its space {space.id} is deleted here"
    for each in kind.fields:
        number = line.values.get(each.name) if each.name in kind.numbers else None
        if number is not None and not 0 <= number <= space.head_seq:
            return f"{each.wire} {number} lies beyond the newest message of its space, {space.head_seq}"
    return ""
