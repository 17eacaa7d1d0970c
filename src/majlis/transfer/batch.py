"""A batch of lines becomes rows: all together, or, when the database refuses one of them, one by one.

A row that is here already is left as it is. Only positions move, and only forward, so that a repeated import
changes nothing and an import into a gateway in use takes nothing back.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from majlis.store.transactions import Tx
from majlis.transfer.checking import Line
from majlis.transfer.discretion import same_but_for_what_stayed
from majlis.transfer.tables import Kind
from majlis.transfer.placeholders import replace_placeholders
from majlis.transfer.references import missing_references, wrong_numbers
from majlis.transfer.rules import derived, settled
from majlis.transfer.verdicts import (
    IMPORTED,
    PRESENT,
    UPDATED,
    Asides,
    Verdict,
    Verdicts,
    refusal,
    remember,
    set_aside,
)


def take_in(tx: Tx, lines: Sequence[Line], asides: Asides) -> Verdicts:
    """Leaves `asides` alone: a transaction may have to run again."""
    verdicts: Verdicts = {}
    if _tried(tx, lines, verdicts, ChainMap({}, asides)) is None:
        return verdicts
    verdicts, known = {}, ChainMap({}, asides)
    for line in lines:
        reason = _tried(tx, [line], verdicts, known)
        if reason is not None:
            _note(line, set_aside(reason), verdicts, known)
    return verdicts


def _tried(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, asides: Asides) -> str | None:
    """In a savepoint. The reason when the database refuses, and then nothing has been written."""
    try:
        with tx.conn.begin_nested():
            for _, group in groupby(lines, key=lambda line: line.kind.name):
                _take_in_group(tx, list(group), verdicts, asides)
    except sa.exc.DBAPIError as error:
        reason = refusal(error)
        if reason is None:
            raise
        return reason
    return None


def _take_in_group(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, asides: Asides) -> None:
    kind = lines[0].kind
    here = _rows_here(tx, kind, lines)
    fresh: list[Line] = []
    moving: list[tuple[Line, dict[str, Any]]] = []
    for line in lines:
        row = here.get(kind.key_of(line.values))
        if row is None:
            fresh.append(line)
        elif differing := _differing(line, row):
            _note(line, set_aside(f"differs from what is here ({', '.join(differing)})"), verdicts, asides)
        elif ahead := _ahead(line, row):
            moving.append((line, ahead))
        else:
            verdicts[line.raw.number] = PRESENT
    wrong = wrong_numbers(tx, kind, [*fresh, *(line for line, _ in moving)])
    wrong = {**missing_references(tx, kind, fresh, asides), **wrong}
    for line in (*fresh, *(line for line, _ in moving)):
        if line.raw.number in wrong:
            _note(line, set_aside(wrong[line.raw.number]), verdicts, asides)
    _move(tx, [(line, ahead) for line, ahead in moving if line.raw.number not in wrong], verdicts)
    _insert(tx, [line for line in fresh if line.raw.number not in wrong], verdicts)


def _rows_here(tx: Tx, kind: Kind, lines: Sequence[Line]) -> dict[tuple[Any, ...], Mapping[Any, Any]]:
    columns = [kind.table.c[name] for name in kind.key]
    keys = [kind.key_of(line.values) for line in lines]
    same = columns[0].in_([key[0] for key in keys]) if len(columns) == 1 else sa.tuple_(*columns).in_(keys)
    found = (row._mapping for row in tx.all(sa.select(kind.table).where(same)))
    return {tuple(row[name] for name in kind.key): row for row in found}


def _differing(line: Line, row: Mapping[Any, Any]) -> list[str]:
    """The keys that say something else than the row here, as it would arrive from an export of its own."""
    kind = line.kind
    here = settled(kind.name, {name: row[name] for name in line.values})
    return [
        each.wire
        for each in kind.fields
        if each.name in here
        and each.name not in kind.positions
        and here[each.name] != line.values[each.name]
        and not same_but_for_what_stayed(kind.name, each.name, line.values, row)
    ]


def _ahead(line: Line, row: Mapping[Any, Any]) -> dict[str, Any]:
    said = {name: line.values.get(name) for name in line.kind.positions}
    return {name: to for name, to in said.items() if to is not None and (row[name] is None or row[name] < to)}


def _move(tx: Tx, moving: Iterable[tuple[Line, dict[str, Any]]], verdicts: Verdicts) -> None:
    for line, ahead in moving:
        table = line.kind.table
        row = sa.and_(*(table.c[name] == line.values[name] for name in line.kind.key))
        for name, to in ahead.items():
            behind = sa.or_(table.c[name].is_(None), table.c[name] < to)
            tx.execute(table.update().where(row, behind).values({name: to}))
        verdicts[line.raw.number] = UPDATED


def _insert(tx: Tx, lines: Sequence[Line], verdicts: Verdicts) -> None:
    replaced = replace_placeholders(tx, lines)
    verdicts.update((number, UPDATED) for number in replaced)
    fresh = [line for line in lines if line.raw.number not in replaced]
    rows = [{**line.values, **derived(line.kind.name, line.values)} for line in fresh]
    # One statement has one set of columns; neighbours nearly always agree, and their order has to stay.
    for _, group in groupby(rows, key=tuple):
        tx.execute(lines[0].kind.table.insert(), list(group))
    verdicts.update((line.raw.number, IMPORTED) for line in fresh)


def _note(line: Line, verdict: Verdict, verdicts: Verdicts, asides: Asides) -> None:
    verdicts[line.raw.number] = verdict
    remember(asides, line.kind, line.values, line.raw.number, verdict.reason)
