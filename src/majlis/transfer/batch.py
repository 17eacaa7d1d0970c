"""Imports a batch of lines: all together, or in halves if the database rejects one of them.

An import does not change existing rows, except that positions move forward. So a repeated import changes nothing, and
an import into a gateway in use overwrites nothing.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import SYSTEM
from majlis.store.bulk import insert_rows
from majlis.store.hot import among, hot
from majlis.store.tables import entities, events, spaces, tokens
from majlis.store.transactions import Tx
from majlis.transfer.imported_files import complete_rows, show_files, without_content
from majlis.transfer.parse import Line, derived, settled
from majlis.transfer.placeholders import replace_placeholders
from majlis.transfer.report import RejectedRows, Verdict, Verdicts, refusal, remember
from majlis.transfer.scope import Values, same_after_redaction
from majlis.transfer.tables import Kind

Reasons = dict[int, str]
"""Why lines were rejected, by line number."""

_IMPORTED, _PRESENT = Verdict("imported"), Verdict("present")
_SPACES = hot(sa.select(spaces.c.id, spaces.c.deleted_at, spaces.c.head_seq).where(among(spaces.c.id, "wanted")))


def import_lines(tx: Tx, lines: Sequence[Line], earlier: RejectedRows) -> Verdicts:
    """Does not change `earlier`: the transaction may run again."""
    verdicts: Verdicts = {}
    _import_halves(tx, lines, verdicts, ChainMap({}, earlier))
    return verdicts


def _import_halves(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, known: ChainMap[tuple[str, str], str]) -> None:
    """All lines together, or if the database rejects one of them each half, in order, until that line is alone."""
    tried: Verdicts = {}
    attempt = known.new_child()
    reason = _try(tx, lines, tried, attempt)
    if reason is None:
        verdicts.update(tried)
        known.update(attempt.maps[0])
    elif len(lines) == 1:
        _reject(lines[0], reason, verdicts, known)
    else:
        middle = len(lines) // 2
        _import_halves(tx, lines[:middle], verdicts, known)
        _import_halves(tx, lines[middle:], verdicts, known)


def replace_owner(tx: Tx, lines: Sequence[Line], earlier: RejectedRows) -> Verdicts:
    """Replaces the owner of a fresh gateway by the imported one, if `lines` has one and the gateway was never used.

    The imported owner takes over tokens and sessions, so the sign-in link that `majlis serve` printed still works.
    """
    imported = next(filter(_is_owner, lines), None)
    fresh = _fresh_owner(tx) if imported is not None else None
    if imported is None or fresh is None or fresh.id == imported.values["id"]:
        return {}
    with tx.savepoint() as savepoint:
        aside = {"name_key": fresh.id, "look_key": None, "external_id": None}
        tx.execute(entities.update().where(entities.c.id == fresh.id).values(aside))
        verdicts = import_lines(tx, [imported], earlier)
        if verdicts[imported.raw.number].outcome != "imported":
            savepoint.rollback()
            return verdicts
        tx.execute(tokens.update().where(tokens.c.entity_id == fresh.id).values(entity_id=imported.values["id"]))
        tx.execute(events.delete().where(events.c.topic == fresh.id))
        tx.execute(entities.delete().where(entities.c.id == fresh.id))
    return verdicts


def _is_owner(line: Line) -> bool:
    values = line.values
    return line.kind.name == "entity" and values.get("role") == "owner" and values.get("deleted_at") is None


def _fresh_owner(tx: Tx) -> sa.Row[Any] | None:
    """The only entity of a gateway without spaces."""
    found = tx.all(sa.select(entities).where(entities.c.id != SYSTEM.id).limit(2))
    used = len(found) != 1 or tx.one(sa.select(spaces.c.id).limit(1)) is not None
    return None if used or found[0].role != "owner" else found[0]


def _try(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, earlier: RejectedRows) -> str | None:
    """Writes in a savepoint. Returns the reason if the database rejects a row; then nothing was written."""
    try:
        with tx.savepoint():
            for _, group in groupby(lines, key=lambda line: line.kind.name):
                _import_group(tx, list(group), verdicts, earlier)
    except sa.exc.DBAPIError as error:
        reason = refusal(error)
        if reason is None:
            raise
        return reason
    return None


def _import_group(tx: Tx, lines: Sequence[Line], verdicts: Verdicts, earlier: RejectedRows) -> None:
    kind = lines[0].kind
    existing = _existing_rows(tx, kind, lines)
    new: list[Line] = []
    moving: list[tuple[Line, dict[str, Any]]] = []
    for line in lines:
        row = existing.get(kind.key_of(line.values))
        if row is None:
            new.append(line)
        elif differing := _differing(line, row):
            _reject(line, f"differs from the existing row ({', '.join(differing)})", verdicts, earlier)
        elif ahead := _ahead(line, row):
            moving.append((line, ahead))
        else:
            verdicts[line.raw.number] = _PRESENT
    changing = [*new, *(line for line, _ in moving)]
    wrong = {**_missing_references(tx, kind, new, earlier), **_wrong_numbers(tx, kind, changing)}
    wrong |= _third_members(tx, new) if kind.name == "member" else {}
    wrong |= without_content(tx, new) if kind.name == "file" else {}
    for line in changing:
        if line.raw.number in wrong:
            _reject(line, wrong[line.raw.number], verdicts, earlier)
    _move(tx, [(line, ahead) for line, ahead in moving if line.raw.number not in wrong], verdicts)
    _insert(tx, [line for line in new if line.raw.number not in wrong], verdicts)


def _existing_rows(tx: Tx, kind: Kind, lines: Sequence[Line]) -> dict[tuple[Any, ...], Mapping[Any, Any]]:
    keys = [kind.key_of(line.values) for line in lines]
    if len(kind.key) == 1:
        found = tx.all(_by_key(kind.table, *kind.key), {"keys": [key[0] for key in keys]})
    else:
        same = sa.tuple_(*(kind.table.c[name] for name in kind.key)).in_(keys)
        found = tx.all(sa.select(kind.table).where(same))
    rows = (row._mapping for row in found)
    return {tuple(row[name] for name in kind.key): row for row in rows}


@cache
def _by_key(table: sa.Table, name: str) -> sa.Select[Any]:
    return hot(sa.select(table).where(among(table.c[name], "keys")))


def _differing(line: Line, row: Mapping[Any, Any]) -> list[str]:
    """The keys whose values differ from those in an export of the existing row."""
    kind = line.kind
    existing = settled(kind.name, {name: row[name] for name in line.values})
    if existing == line.values:
        return []
    return [
        each.wire
        for each in kind.fields
        if each.name in existing
        and each.name not in kind.positions
        and existing[each.name] != line.values[each.name]
        and not same_after_redaction(kind.name, each.name, line.values, row)
    ]


def _ahead(line: Line, row: Mapping[Any, Any]) -> dict[str, Any]:
    positions = {name: line.values.get(name) for name in line.kind.positions}
    return {name: to for name, to in positions.items() if to is not None and (row[name] is None or row[name] < to)}


def _missing_references(tx: Tx, kind: Kind, lines: Sequence[Line], earlier: RejectedRows) -> Reasons:
    reasons: Reasons = {}
    for each, table in kind.references:
        name = each.name
        wanted = {line.values.get(name) for line in lines} - {None}
        missing = wanted - _existing_ids(tx, table, wanted, agents_only=name in kind.agents_only)
        for line in lines if missing else ():
            target = line.values.get(name)
            if target not in missing:
                continue
            reason = f"{each.wire} refers to {target}, which does not exist, comes later or has another type"
            if why := earlier.get((table.name, str(target))):
                reason = f"depends on {target} ({each.wire}), which was rejected: {why}"[:1000]
            reasons.setdefault(line.raw.number, reason)
    return reasons


def _existing_ids(tx: Tx, table: sa.Table, wanted: set[Any], agents_only: bool) -> set[str]:
    return {row.id for row in tx.all(_ids(table, agents_only), {"wanted": wanted})} if wanted else set()


@cache
def _ids(table: sa.Table, agents_only: bool) -> sa.Select[Any]:
    statement = sa.select(table.c.id).where(among(table.c.id, "wanted"))
    return hot(statement.where(entities.c.type == "agent") if agents_only else statement)


def _wrong_numbers(tx: Tx, kind: Kind, lines: Sequence[Line]) -> Reasons:
    """A number above the space's newest message would cause a negative unread count or a gap."""
    if not kind.numbers or not lines:
        return {}
    wanted = {line.values["space_id"] for line in lines}
    found = {row.id: row for row in tx.all(_SPACES, {"wanted": wanted})}
    reasons = ((line.raw.number, _wrong_number(line, found.get(line.values["space_id"]))) for line in lines)
    return {number: reason for number, reason in reasons if reason}


def _wrong_number(line: Line, space: Any) -> str:
    if space is None:
        return ""
    if space.deleted_at is not None:
        return f"its space {space.id} is deleted"
    for each in line.kind.numbered:
        number = line.values.get(each.name)
        if number is not None and not 0 <= number <= space.head_seq:
            return f"{each.wire} {number} should be between 0 and {space.head_seq}, the newest message of its space"
    return ""


def _third_members(tx: Tx, lines: Sequence[Line]) -> Reasons:
    """A direct conversation has the two members of its key (L8)."""
    wanted = {line.values["space_id"] for line in lines}
    direct = sa.select(spaces.c.id, spaces.c.direct_key).where(
        spaces.c.id.in_(wanted), spaces.c.direct_key.is_not(None)
    )
    pairs = {row.id: row.direct_key.split(":") for row in tx.all(direct)} if wanted else {}
    reason = "its space is a direct conversation of two others"
    third = (line for line in lines if line.values["entity_id"] not in pairs.get(line.values["space_id"], ()))
    return {line.raw.number: reason for line in third if line.values["space_id"] in pairs}


def _move(tx: Tx, moving: Iterable[tuple[Line, dict[str, Any]]], verdicts: Verdicts) -> None:
    for line, ahead in moving:
        table = line.kind.table
        row = sa.and_(*(table.c[name] == line.values[name] for name in line.kind.key))
        for name, to in ahead.items():
            behind = sa.or_(table.c[name].is_(None), table.c[name] < to)
            tx.execute(table.update().where(row, behind).values({name: to}))
        verdicts[line.raw.number] = Verdict("updated")


def _insert(tx: Tx, lines: Sequence[Line], verdicts: Verdicts) -> None:
    if not lines:
        return
    kind = lines[0].kind
    replaced = replace_placeholders(tx, lines)
    verdicts.update((number, Verdict("updated")) for number in replaced)
    new = [line for line in lines if line.raw.number not in replaced] if replaced else lines
    rows = [_row(line) for line in new]
    if rows and kind.name in ("file", "attachment"):
        complete_rows(tx, kind.name, rows)
    # A statement has one set of columns. Neighbours nearly always have the same, and the order must stay.
    for names, group in groupby(rows, key=tuple):
        insert_rows(tx, kind.table, names, [tuple(row.values()) for row in group])
    if rows and kind.name == "attachment":
        show_files(tx, {row["message_id"] for row in rows})
    verdicts.update((line.raw.number, _IMPORTED) for line in new)


def _row(line: Line) -> Values:
    added = derived(line.kind.name, line.values)
    is_completed = line.kind.name in ("file", "attachment")
    return {**line.values, **added} if added or is_completed else line.values


def _reject(line: Line, reason: str, verdicts: Verdicts, earlier: RejectedRows) -> None:
    verdicts[line.raw.number] = Verdict("setAside", reason)
    remember(earlier, line.kind, line.values, line.raw.number, reason)
