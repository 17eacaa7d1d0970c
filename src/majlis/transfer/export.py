"""Export: one snapshot, read page by page and written as it is read, so memory does not grow with the gateway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import sqlalchemy as sa

from majlis import clock
from majlis.errors import ConfigurationError
from majlis.store.migrate import revision
from majlis.store.migrations import REVISIONS
from majlis.store.tables import spaces
from majlis.store.transactions import Tx
from majlis.transfer import tables as kinds
from majlis.transfer.damage import DAMAGE
from majlis.transfer.tables import Kind
from majlis.transfer.paging import Selection
from majlis.transfer.planning import prefer_indexes
from majlis.transfer.progress import Progress
from majlis.transfer.scope import Scope, find_scope

VERSION = 1


@dataclass
class Exported:
    scope: Scope
    counts: Counter[str] = field(default_factory=Counter)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """Damaged rows that could not be read: an import puts a notice in the place of such a message."""


def export(tx: Tx, space: str | None, write: Callable[[bytes], object], progress: Progress) -> Exported:
    """To be given to `Database.snapshot`. It writes out of its own thread: nothing has to wait in memory."""
    _require_current(tx)
    prefer_indexes(tx)
    if tx.dialect == "postgresql":
        # A reader of a pipe may take its time; the snapshot must outlast it.
        tx.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    exported = Exported(find_scope(tx, space))
    progress.begin(_messages_expected(tx, exported.scope))
    write(_line({"type": "majlis-export", "version": VERSION, "schema": REVISIONS[-1], **_when(tx, exported.scope)}))
    for kind in kinds.KINDS:
        for page in _lines(tx, kind, exported):
            write(b"".join(page))
            exported.counts[kind.name] += len(page)
            progress.advance(len(page) if kind.name == "message" else 0)
    write(_line({"type": "end", "counts": dict(exported.counts)}))
    return exported


def _require_current(tx: Tx) -> None:
    found = revision(tx)
    if found is None:
        raise ConfigurationError("This database holds no gateway. Check --data-dir or --database-url.")
    if found != REVISIONS[-1]:
        raise ConfigurationError(f"This database is at revision {found}. Bring it up to date first: majlis migrate.")


def _messages_expected(tx: Tx, scope: Scope) -> int:
    total = sa.select(sa.func.coalesce(sa.func.sum(spaces.c.head_seq), 0)).where(spaces.c.deleted_at.is_(None))
    return int(tx.execute(total if scope.space_id is None else total.where(spaces.c.id == scope.space_id)).scalar_one())


def _when(tx: Tx, scope: Scope) -> dict[str, str]:
    return {"exportedAt": clock.iso(tx.now), "scope": scope.name}


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _lines(tx: Tx, kind: Kind, exported: Exported) -> Iterator[list[bytes]]:
    selection = Selection(tx, kind, exported.scope)
    for page in selection.pages():
        lines = []
        for key, row in page:
            try:
                lines.append(selection.line(row))
            except DAMAGE as error:
                reason = str(error).splitlines()[0]
                exported.left_out.append({"type": kind.name, "key": list(key), "reason": reason})
        yield lines
