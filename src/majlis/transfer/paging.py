"""Reading a table page by page, by keyset, within one snapshot. A row that cannot be read does not stop the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.store.tables.columns import Key
from majlis.store.transactions import Tx
from majlis.transfer.damage import DAMAGE
from majlis.transfer.discretion import Discretion
from majlis.transfer.tables import Kind
from majlis.transfer.scope import Scope, ordered, parts, selected

Keyed = tuple[tuple[Any, ...], "sa.Row[Any] | Exception"]


class Selection:
    """The rows of one kind that a scope covers."""

    def __init__(self, tx: Tx, kind: Kind, scope: Scope) -> None:
        self._tx = tx
        self._kind = kind
        self._scope = scope
        self._columns = selected(kind, scope)
        self._discretion = Discretion(tx, scope.space_id) if scope.space_id is not None else None
        self._order = [_bytewise(tx, column) for column in ordered(kind, scope)]
        self._everything = sa.select(*(read.label(each.name) for each, read, _ in self._columns), *self._keys())

    def pages(self) -> Iterator[list[Keyed]]:
        for part in parts(self._kind, self._scope):
            page = self._page(part)
            while page:
                yield page
                page = self._page(part, _tuple(self._order) > _tuple(self._literals(page[-1][0])))

    def line(self, row: sa.Row[Any] | Exception) -> bytes:
        if isinstance(row, Exception):
            raise row
        said = {
            each.name: value
            for (each, _, may_be_unsaid), value in zip(self._columns, row, strict=False)
            if not (may_be_unsaid and value is None)
        }
        if self._discretion is not None:
            said = self._discretion.of_space(self._kind.name, said)
        written = {each.wire: each.write(said[each.name]) for each, _, _ in self._columns if each.name in said}
        return orjson.dumps({"type": self._kind.name, **written}, option=orjson.OPT_APPEND_NEWLINE)

    def _page(self, *conditions: sa.ColumnElement[bool]) -> list[Keyed]:
        def of_page(what: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
            return self._tx.all(what.where(*conditions).order_by(*self._order).limit(self._kind.page))

        try:
            return [(tuple(row)[len(self._columns) :], row) for row in of_page(self._everything)]
        except DAMAGE:
            return [(tuple(key), self._alone(key)) for key in of_page(sa.select(*self._keys()))]

    def _alone(self, key: sa.Row[Any]) -> sa.Row[Any] | Exception:
        try:
            return self._tx.execute(self._everything.where(_tuple(self._order) == _tuple(self._literals(key)))).one()
        except DAMAGE as error:
            return error

    def _keys(self) -> list[sa.Label[Any]]:
        return [column.label(f"key_{n}") for n, column in enumerate(self._order)]

    def _literals(self, key: Sequence[Any]) -> list[sa.ColumnElement[Any]]:
        return [sa.literal(value, column.type) for value, column in zip(key, self._order, strict=True)]


def _bytewise(tx: Tx, column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """The same order on both databases. Ids have it already."""
    wanted = tx.dialect == "postgresql" and isinstance(column.type, sa.String) and column.type is not Key
    return sa.collate(column, "C") if wanted else column


def _tuple(columns: Sequence[sa.ColumnElement[Any]]) -> sa.ColumnElement[Any]:
    return columns[0] if len(columns) == 1 else sa.tuple_(*columns)
