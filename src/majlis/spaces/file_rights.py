"""Access to files: members of the spaces in which a message carries them read and attach them, and uploaders before
that.

A run of an agent is bound by the rights of its person, too (G3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Invalid, NotFound
from majlis.spaces.acts_for import Bounds, spaces_of
from majlis.spaces.attachments import file_json
from majlis.spaces.shapes import FileJson
from majlis.store.tables import attachments, files, members, spaces
from majlis.store.transactions import Tx


def access_file(tx: Tx, caller: Caller, file_id: str, bounds: Bounds | None = None) -> sa.Row[Any]:
    row = tx.one(sa.select(files).where(files.c.id == file_id, readable(caller.id, bounds)))
    if row is None:
        whose = "your spaces" if bounds is None else "the spaces of the person you act for"
        raise NotFound("unknown_file", f"There is no file {file_id} in {whose}.")
    return row


def find_readable(tx: Tx, caller: Caller, file_ids: Sequence[str], bounds: Bounds | None) -> list[sa.Row[Any]]:
    """The files in the same order, without those that the caller may not read."""
    rows = tx.all(sa.select(files).where(files.c.id.in_(file_ids), readable(caller.id, bounds)))
    return sorted(rows, key=lambda row: file_ids.index(row.id))


def carried_by(tx: Tx, caller: Caller, file_id: str, bounds: Bounds | None = None) -> str | None:
    """The newest message with this file that the caller may read."""
    newest = sa.select(sa.func.max(attachments.c.message_id))
    found: str | None = tx.execute(
        newest.where(attachments.c.file_id == file_id, *_carried(caller.id, bounds))
    ).scalar_one()
    return found


def files_for(tx: Tx, sender: Caller, space_id: str, file_ids: Sequence[str], bounds: Bounds | None) -> list[FileJson]:
    """The files of a new message, if the sender may attach them. Locks them, so that they are not deleted as unused
    meanwhile."""
    wanted = list(dict.fromkeys(file_ids))
    own = sa.and_(files.c.uploader_id == sender.id, files.c.space_id == space_id, _made_for(bounds))
    allowed = sa.or_(own, readable(sender.id, bounds))
    found = tx.all(sa.select(files).where(files.c.id.in_(wanted), allowed).with_for_update())
    by_id = {row.id: file_json(row._mapping) for row in found}
    missing = next((each for each in wanted if each not in by_id), None)
    if missing is not None:
        problem = f"files contains {missing}, which is not a file that you uploaded here or may read."
        raise Invalid("unknown_file", problem, {"path": "files"})
    return [by_id[each] for each in wanted]


def readable(entity_id: str, bounds: Bounds | None = None) -> sa.ColumnElement[bool]:
    """The condition under which an entity may read a file: it is a member of a space in which a message carries it or,
    while no message does, its uploader."""
    carried = sa.exists().where(attachments.c.file_id == files.c.id, *_carried(entity_id, bounds))
    unused = sa.and_(files.c.uploader_id == entity_id, files.c.collect_at.is_not(None), _made_for(bounds))
    return sa.or_(carried, unused)


def _carried(entity_id: str, bounds: Bounds | None) -> list[sa.ColumnElement[bool]]:
    """The conditions for attachments that the entity may read."""
    return [
        members.c.space_id == attachments.c.space_id,
        members.c.entity_id == entity_id,
        spaces.c.id == attachments.c.space_id,
        spaces.c.deleted_at.is_(None),
        *([attachments.c.space_id.in_(_within(bounds))] if bounds is not None else ()),
    ]


def _within(bounds: Bounds) -> Any:
    return spaces_of(bounds.person) if bounds.person else sorted(bounds.asked_in)


def _made_for(bounds: Bounds | None) -> sa.ColumnElement[bool]:
    """A tool made the file in a run of the same person, or of no known person in the same space."""
    if bounds is None:
        return sa.true()
    if bounds.person:
        return files.c.person_id == bounds.person
    return sa.and_(files.c.person_id.is_(None), files.c.space_id.in_(sorted(bounds.asked_in)))
