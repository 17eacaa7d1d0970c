"""Completes the rows of imported files: links their content and the messages that show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.spaces.attachments import UNUSED_MILLIS, file_json
from majlis.store.tables import attachments, blobs, files, messages
from majlis.store.transactions import Tx
from majlis.transfer.parse import Line


def without_content(tx: Tx, lines: Sequence[Line]) -> dict[int, str]:
    """Why files cannot be imported, by line number."""
    stored = _stored(tx, [line.values["sha256"] for line in lines])
    reasons = {}
    for line in lines:
        blob = stored.get(line.values["sha256"])
        if blob is None:
            reasons[line.raw.number] = "its content is missing: no complete content lines before it have its sha256"
        elif blob.bytes != line.values["bytes"]:
            reasons[line.raw.number] = f"bytes should be {blob.bytes}, the size of its content"
    return reasons


def complete_rows(tx: Tx, kind: str, rows: list[dict[str, Any]]) -> None:
    """Adds the columns that are not exported. A file is deleted as unused unless an attachment follows."""
    if kind == "file":
        stored = _stored(tx, [row["sha256"] for row in rows])
        for row in rows:
            row.update(blob=stored[row["sha256"]].name, collect_at=tx.now + UNUSED_MILLIS)
        tx.execute(blobs.update().where(blobs.c.name.in_({row["blob"] for row in rows})).values(collect_at=None))
        return
    carriers = sa.select(messages.c.id, messages.c.space_id).where(messages.c.id.in_({r["message_id"] for r in rows}))
    spaces = {row.id: row.space_id for row in tx.all(carriers)}
    for row in rows:
        row["space_id"] = spaces[row["message_id"]]
    tx.execute(files.update().where(files.c.id.in_({row["file_id"] for row in rows})).values(collect_at=None))


def show_files(tx: Tx, message_ids: Iterable[str]) -> None:
    """Messages have a copy of their files' names, types and sizes."""
    wanted = attachments.c.message_id.in_(list(message_ids))
    found = tx.all(
        sa.select(attachments.c.message_id, files)
        .join(files, files.c.id == attachments.c.file_id)
        .where(wanted)
        .order_by(attachments.c.message_id, attachments.c.n)
    )
    carried: dict[str, list[Any]] = {}
    for row in found:
        carried.setdefault(row.message_id, []).append(file_json(row._mapping))
    for message_id, shown in carried.items():
        tx.execute(messages.update().where(messages.c.id == message_id).values(files=shown))


def _stored(tx: Tx, hashes: Sequence[str]) -> dict[str, sa.Row[Any]]:
    found = tx.all(sa.select(blobs).where(blobs.c.sha256.in_(set(hashes)), blobs.c.stored))
    return {row.sha256: row for row in found}
