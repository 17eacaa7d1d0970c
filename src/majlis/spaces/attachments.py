"""Files of spaces (L4): recording uploads within quotas, who may read them, and the messages that carry them.

A file that no message carries can be read only by its uploader, and is deleted after a day. `majlis.files` has the
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.entities.caller import Caller
from majlis.errors import Conflict
from majlis.files.upload import Upload
from majlis.spaces.access import access_space, lock_space
from majlis.spaces.shapes import FileJson
from majlis.store import ids
from majlis.store.tables import attachments, blobs, entities, files, messages
from majlis.store.transactions import Tx

MAX_FILES = 20
UNUSED_MILLIS = 24 * 3_600_000
_BATCH = 100


def check_upload(tx: Tx, caller: Caller, space_id: str) -> str:
    """Called before the bytes arrive: checks that the caller may upload here. Returns the caller's id."""
    access_space(tx, caller, space_id, "write")
    _check_quotas(tx, caller.id, space_id, 0)
    return caller.id


def reserve_blob(tx: Tx, sha256: str, size: int) -> tuple[str, bool]:
    """The name under which the store keeps this content, and whether it has it already."""
    insert = sqlite.insert(blobs) if tx.dialect == "sqlite" else postgresql.insert(blobs)
    new = {
        "name": f"{sha256[:2]}/{sha256}-{ids.new('blb')[4:]}",
        "sha256": sha256,
        "bytes": size,
        "stored": False,
        "collect_at": tx.now + UNUSED_MILLIS,
    }
    later = sa.case((blobs.c.collect_at.is_(None), None), else_=tx.now + UNUSED_MILLIS)
    kept = insert.on_conflict_do_update(index_elements=["sha256"], set_={"collect_at": later})
    row = tx.execute(kept.returning(blobs.c.name, blobs.c.stored), new).one()
    return row.name, row.stored


def record_file(
    tx: Tx,
    caller: Caller,
    space_id: str,
    upload: Upload,
    blob: str,
    upload_key: str | None = None,
    person_id: str | None = None,
) -> FileJson:
    """Call it when the store has the bytes. The lock of the space makes its quota exact, the uploader's lock theirs.
    A repeated request with the same `upload_key` gets the file of the first."""
    lock_space(tx, caller, space_id, "write")
    tx.execute(sa.select(entities.c.id).where(entities.c.id == caller.id).with_for_update(key_share=True))
    if upload_key is not None and (stored := _uploaded(tx, caller.id, space_id, upload_key)) is not None:
        return _repeated(stored, upload)
    _check_quotas(tx, caller.id, space_id, upload.bytes)
    keep_blob(tx, blob)
    row = {
        "id": ids.new("fil"),
        "space_id": space_id,
        "uploader_id": caller.id,
        "person_id": person_id,
        "blob": blob,
        "name": upload.name,
        "media_type": upload.sniffed.media_type,
        "bytes": upload.bytes,
        "width": upload.sniffed.width,
        "height": upload.sniffed.height,
        "sha256": upload.sha256,
        "created_at": tx.now,
        "collect_at": tx.now + UNUSED_MILLIS,
        "upload_key": upload_key,
    }
    tx.execute(files.insert(), row)
    return file_json(row)


def mark_stored(tx: Tx, blob: str) -> None:
    """Records that the store has the bytes, although no file uses them yet."""
    tx.execute(blobs.update().where(blobs.c.name == blob).values(stored=True))


def keep_blob(tx: Tx, blob: str) -> None:
    """Records that the store has the bytes, and that a file is about to use them."""
    used = blobs.update().where(blobs.c.name == blob, blobs.c.sha256.is_not(None))
    if tx.execute(used.values(stored=True, collect_at=None)).rowcount == 0:
        raise Conflict("file_deleted", "The same file was just deleted by another request. Upload it again.")


def attach(tx: Tx, space_id: str, message_id: str, carried: Sequence[FileJson]) -> None:
    of_message = {"message_id": message_id, "space_id": space_id}
    rows = [{**of_message, "file_id": file["id"], "n": n} for n, file in enumerate(carried)]
    tx.execute(attachments.insert(), rows)
    tx.execute(files.update().where(files.c.id.in_([file["id"] for file in carried])).values(collect_at=None))


def drop_files(tx: Tx, message_ids: Sequence[str]) -> None:
    """Takes the files off deleted messages. What no other message carries can be read by no one from now on, and its
    bytes are deleted by the next `collect`."""
    carried = attachments.c.message_id.in_(message_ids)
    dropped = [row.file_id for row in tx.all(sa.select(attachments.c.file_id).where(carried))]
    if not dropped:
        return
    tx.execute(attachments.delete().where(carried))
    tx.execute(messages.update().where(messages.c.id.in_(message_ids)).values(files=None))
    still = sa.exists().where(attachments.c.file_id == files.c.id)
    _delete_files(tx, tx.all(sa.select(files.c.id, files.c.blob).where(files.c.id.in_(dropped), ~still)))


def delete_unused(tx: Tx) -> int:
    """Uploads that no message carried within a day."""
    due = files.c.collect_at <= tx.now
    found = tx.all(sa.select(files.c.id, files.c.blob).where(due).limit(_BATCH).with_for_update(skip_locked=True))
    _delete_files(tx, found)
    return len(found)


def unused_blobs(tx: Tx) -> list[str]:
    """Names whose bytes the store may delete. From now on a new upload of the same bytes gets a new name, so this
    deletion can be repeated after a crash; `forget_blobs` ends it."""
    in_use = sa.exists().where(files.c.blob == blobs.c.name)
    due = sa.select(blobs.c.name).where(blobs.c.collect_at <= tx.now, ~in_use).limit(_BATCH)
    begun = blobs.update().where(blobs.c.name.in_(due), blobs.c.collect_at <= tx.now)
    return [row.name for row in tx.all(begun.values(sha256=None).returning(blobs.c.name))]


def forget_blobs(tx: Tx, names: Sequence[str]) -> None:
    tx.execute(blobs.delete().where(blobs.c.name.in_(names), blobs.c.sha256.is_(None)))


def file_json(column: Any) -> FileJson:
    file: FileJson = {
        "id": column["id"],
        "name": column["name"],
        "mediaType": column["media_type"],
        "bytes": column["bytes"],
        "sha256": column["sha256"],
    }
    if column["width"] is not None:
        file["width"], file["height"] = column["width"], column["height"]
    return file


def _uploaded(tx: Tx, uploader_id: str, space_id: str, upload_key: str) -> sa.Row[Any] | None:
    same = files.c.uploader_id == uploader_id, files.c.space_id == space_id, files.c.upload_key == upload_key
    return tx.one(sa.select(files).where(*same))


def _repeated(stored: sa.Row[Any], upload: Upload) -> FileJson:
    if stored.sha256 != upload.sha256:
        problem = "Another file was uploaded with this Idempotency-Key. Use a new key for each file."
        raise Conflict("upload_key_used", problem)
    return file_json(stored._mapping)


def _delete_files(tx: Tx, rows: Sequence[sa.Row[Any]]) -> None:
    if not rows:
        return
    tx.execute(files.delete().where(files.c.id.in_([row.id for row in rows])))
    in_use = sa.exists().where(files.c.blob == blobs.c.name)
    unused = blobs.c.name.in_({row.blob for row in rows}), ~in_use
    tx.execute(blobs.update().where(*unused).values(collect_at=tx.now))


def _check_quotas(tx: Tx, uploader_id: str, space_id: str, size: int) -> None:
    for column, key, limit, whose in (
        (files.c.uploader_id, uploader_id, tx.hooks.file_bytes_per_member, "Your files take"),
        (files.c.space_id, space_id, tx.hooks.file_bytes_per_space, "The files of this space take"),
    ):
        used = tx.execute(sa.select(sa.func.coalesce(sa.func.sum(files.c.bytes), 0)).where(column == key)).scalar_one()
        if used + max(size, 1) > limit:
            problem = f"{whose} {used} of {limit} bytes, so this file does not fit. Delete messages with files first."
            raise Conflict("file_quota", problem, {"usedBytes": int(used), "maxBytes": limit})
