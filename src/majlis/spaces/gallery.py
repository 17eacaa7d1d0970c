"""The files of a space: those that its messages carry, newest first."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.spaces.access import access_space
from majlis.spaces.attachments import file_json
from majlis.spaces.shapes import FileJson, SenderJson
from majlis.store.tables import attachments, entities, files, messages
from majlis.store.transactions import Tx


class SpaceFileJson(FileJson):
    """`messageId` and `sender` belong to the newest message here that carries the file."""

    messageId: str  # noqa: N815
    sender: SenderJson
    createdAt: str  # noqa: N815


class FilePageJson(TypedDict):
    files: list[SpaceFileJson]
    hasMore: bool


def list_files(tx: Tx, caller: Caller, space_id: str, limit: int = 50, before: str | None = None) -> FilePageJson:
    access_space(tx, caller, space_id)
    carried = sa.select(attachments.c.file_id, sa.func.max(attachments.c.message_id).label("message_id")).where(
        attachments.c.space_id == space_id
    )
    if before is not None:
        carried = carried.where(attachments.c.file_id < before)
    newest = carried.group_by(attachments.c.file_id).order_by(attachments.c.file_id.desc()).limit(limit + 1).subquery()
    sender = (
        entities.c.id.label("sender_id"),
        entities.c.name.label("sender_name"),
        entities.c.type.label("sender_type"),
    )
    found = tx.all(
        sa.select(*files.c, newest.c.message_id, *sender)
        .join(newest, newest.c.file_id == files.c.id)
        .join(messages, messages.c.id == newest.c.message_id)
        .join(entities, entities.c.id == messages.c.sender_id)
        .order_by(files.c.id.desc())
    )
    return {"files": [_shown(row) for row in found[:limit]], "hasMore": len(found) > limit}


def _shown(row: sa.Row[Any]) -> SpaceFileJson:
    return {
        **file_json(row._mapping),
        "messageId": row.message_id,
        "sender": {"id": row.sender_id, "name": row.sender_name, "type": row.sender_type},
        "createdAt": iso(row.created_at),
    }
