"""Export: one snapshot, read and written page by page, so memory does not grow with the gateway.

A row that cannot be read is left out, and the export goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from majlis import clock
from majlis.errors import ConfigurationError
from majlis.files.store import FileStore
from majlis.store.hot import hot
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.tables import blobs, spaces
from majlis.store.tables.columns import Key
from majlis.store.transactions import Tx
from majlis.transfer import tables
from majlis.transfer.file_content import content_lines
from majlis.transfer.report import Progress
from majlis.transfer.scope import DAMAGE, ExportScope, Redaction, contents, find_scope, ordered, parts, selected
from majlis.transfer.tables import Kind

_CONTENTS = 200


class Damaged(NamedTuple):
    key: tuple[Any, ...]
    error: Exception


class _Queries(NamedTuple):
    rows: sa.Select[Any]
    keys: sa.Select[Any]


# A row's columns, then its key.
Row = sa.Row[Any] | Damaged


@dataclass
class Exported:
    scope: ExportScope
    counts: Counter[str] = field(default_factory=Counter)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """Damaged rows. On import, a notice takes the place of a missing message."""


def export(
    tx: Tx, space: str | None, write: Callable[[bytes], object], progress: Progress, store: FileStore
) -> Exported:
    """Runs in `Database.snapshot` and writes from its thread, so nothing is buffered."""
    _require_current(tx)
    prefer_indexes(tx)
    if tx.dialect == "postgresql":
        # The snapshot must outlast a slow reader of a pipe.
        tx.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    exported = Exported(find_scope(tx, space))
    progress.total = _messages_expected(tx, exported.scope)
    header = {"type": "majlis-export", "version": tables.VERSION, "schema": REVISIONS[-1]}
    write(_line({**header, "exportedAt": clock.iso(tx.now), "scope": exported.scope.name}))
    for kind in tables.KINDS:
        if kind.name == "file":
            _write_contents(tx, write, exported, store)
        for page in _pages(tx, kind, exported):
            write(b"".join(page))
            exported.counts[kind.name] += len(page)
            progress.advance(len(page) if kind.name == "message" else 0)
    write(_line({"type": "end", "counts": dict(exported.counts)}))
    return exported


def _write_contents(tx: Tx, write: Callable[[bytes], object], exported: Exported, store: FileStore) -> None:
    """Written before the files, so that an import has a file's bytes when it reads about the file."""
    last = ""
    while page := tx.all(contents(exported.scope).where(blobs.c.name > last).limit(_CONTENTS)):
        for blob in page:
            try:
                for line in content_lines(store, blob.name, blob.sha256, blob.bytes):
                    write(_line(line))
            except OSError as error:
                left_out = {"type": "content", "key": [blob.sha256], "reason": str(error.strerror)}
                exported.left_out.append(left_out)
        last = page[-1].name


def prefer_indexes(tx: Tx) -> None:
    """PostgreSQL plans badly for tables that are just being filled. Every query of a transfer has an index, and one
    table scan per page or batch would make the time grow quadratically."""
    if tx.dialect == "postgresql":
        tx.execute(sa.text("SET LOCAL enable_seqscan = off"))


def _require_current(tx: Tx) -> None:
    found = revision(tx)
    if found is None:
        raise ConfigurationError("This database has no Majlis tables. Check --data-dir or --database-url.")
    if found != REVISIONS[-1]:
        raise ConfigurationError(f"This database is at revision {found}. Run `majlis migrate` first.")


def _messages_expected(tx: Tx, scope: ExportScope) -> int:
    total = sa.select(sa.func.coalesce(sa.func.sum(spaces.c.head_seq), 0)).where(spaces.c.deleted_at.is_(None))
    return int(tx.execute(total if scope.space_id is None else total.where(spaces.c.id == scope.space_id)).scalar_one())


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _pages(tx: Tx, kind: Kind, exported: Exported) -> Iterator[list[bytes]]:
    selection = Selection(tx, kind, exported.scope)
    for page in selection.pages():
        lines = []
        for row in page:
            try:
                lines.append(selection.line(row))
            except DAMAGE as error:
                left_out = {"type": kind.name, "key": list(selection.key(row)), "reason": str(error).splitlines()[0]}
                exported.left_out.append(left_out)
        yield lines


class Selection:
    """The rows of one kind in a scope, read by keyset."""

    def __init__(self, tx: Tx, kind: Kind, scope: ExportScope) -> None:
        columns = selected(kind, scope)
        self._tx = tx
        self._kind = kind
        self._parts = list(parts(kind, scope))
        self._wires = {each.name: each.wire for each, _, _ in columns}
        self._optional = [each.name for each, _, optional in columns if optional]
        self._moments = [each.wire for each, _, _ in columns if each.is_moment]
        self._line_keys = ("type", *self._wires.values())
        self._redaction = Redaction(tx, scope.space_id) if scope.space_id is not None else None
        self._order = [_bytewise(tx, column) for column in ordered(kind, scope)]
        self._keys = [column.label(f"key_{n}") for n, column in enumerate(self._order)]
        self._everything = sa.select(*(read.label(each.name) for each, read, _ in columns), *self._keys)

    def pages(self) -> Iterator[Sequence[Row]]:
        names = [f"after_{n}" for n in range(len(self._order))]
        after = [sa.bindparam(name, type_=column.type) for name, column in zip(names, self._order, strict=True)]
        for part in self._parts:
            first, following = self._queries(part), self._queries(part, _tuple(self._order) > _tuple(after))
            page = self._page(first, {})
            while page:
                yield page
                page = self._page(following, dict(zip(names, self.key(page[-1]), strict=True)))

    def key(self, row: Row) -> tuple[Any, ...]:
        return row.key if isinstance(row, Damaged) else tuple(row[len(self._wires) :])

    def line(self, row: Row) -> bytes:
        if isinstance(row, Damaged):
            raise row.error
        if self._redaction is None:
            # The row's key comes last, and is not written.
            line = dict(zip(self._line_keys, (self._kind.name, *row), strict=False))
        else:
            line = {"type": self._kind.name, **self._redacted(row, self._redaction)}
        for wire in self._moments:
            if (at := line.get(wire)) is not None:
                line[wire] = clock.iso(at)
        return _line(line)

    def _redacted(self, row: sa.Row[Any], redaction: Redaction) -> dict[str, Any]:
        values = dict(zip(self._wires, row, strict=False))
        for name in self._optional:
            if values[name] is None:
                del values[name]
        return {self._wires[name]: value for name, value in redaction.apply(self._kind.name, values).items()}

    def _queries(self, *conditions: sa.ColumnElement[bool]) -> _Queries:
        def query(what: sa.Select[Any]) -> sa.Select[Any]:
            return hot(what.where(*conditions).order_by(*self._order).limit(self._kind.page))

        return _Queries(query(self._everything), query(sa.select(*self._keys)))

    def _page(self, queries: _Queries, after: dict[str, Any]) -> Sequence[Row]:
        try:
            return self._tx.all(queries.rows, after)
        except DAMAGE:
            return [self._alone(tuple(key)) for key in self._tx.all(queries.keys, after)]

    def _alone(self, key: tuple[Any, ...]) -> Row:
        literals = [sa.literal(value, column.type) for value, column in zip(key, self._order, strict=True)]
        try:
            return self._tx.execute(self._everything.where(_tuple(self._order) == _tuple(literals))).one()
        except DAMAGE as error:
            return Damaged(key, error)


def _bytewise(tx: Tx, column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """The same order on both databases. Ids already have it."""
    wanted = tx.dialect == "postgresql" and isinstance(column.type, sa.String) and column.type is not Key
    return sa.collate(column, "C") if wanted else column


def _tuple(columns: Sequence[sa.ColumnElement[Any]]) -> sa.ColumnElement[Any]:
    return columns[0] if len(columns) == 1 else sa.tuple_(*columns)
