"""Deletes a message (L2): its text goes, its number stays, and no agent is woken by it any more."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden
from majlis.inbox.deliver import turn_of_event
from majlis.inbox.turns import settled_in_turn
from majlis.spaces.attachments import drop_files
from majlis.spaces.edit import change, lock_message
from majlis.spaces.pins import unpinned
from majlis.spaces.shapes import MessageJson, message_of
from majlis.spaces.summaries import drop_summary
from majlis.store.tables import deliveries, erasures, versions
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx
from majlis.waits.collect import forget_message

# The message's event has the time at which its transaction began, which may be this much earlier if it waited for the
# space's lock.
_LOCK_MILLIS = 600_000
# A claim locks deliveries before spaces, so this must not wait for it. A delivery that a claim has locked is starting.
_PENDING = (
    sa.select(deliveries.c.id, deliveries.c.event_id, deliveries.c.payload)
    .where(deliveries.c.message_id == sa.bindparam("message"), deliveries.c.state == word("pending"))
    .order_by(deliveries.c.id)
    .with_for_update(skip_locked=True)
)


def delete_message(tx: Tx, caller: Caller, message_id: str) -> MessageJson:
    """For its author and admins of the space. Deleting it again changes nothing."""
    space, row = lock_message(tx, caller, message_id, "read")
    own = row.sender_id == caller.id
    if not own and space.role != "admin":
        raise Forbidden("not_the_author", "Only the author and admins of the space can delete a message.")
    if row.kind != "text" and not (row.kind == "tool" and "ask" in row.tool):
        raise Conflict("not_a_text", "Only text messages and asks can be deleted.")
    if row.deleted_at is not None:
        return message_of(row._mapping)
    return delete_row(tx, caller, row)


def delete_row(tx: Tx, caller: Caller, row: sa.Row[Any]) -> MessageJson:
    """Deletes without checking rights. The caller holds the space's lock."""
    message_id = row.id
    texts = [each.text for each in tx.all(sa.select(versions.c.text).where(versions.c.message_id == message_id))]
    tx.execute(versions.delete().where(versions.c.message_id == message_id))
    _withdraw(tx, message_id, caller.name)
    forget_message(tx, row.space_id, message_id)
    for hook in tx.hooks.deleted:
        hook(tx, row)
    queued = {
        "message_id": row.id,
        "space_id": row.space_id,
        "texts": [row.text, *texts],
        "written_at": row.created_at - _LOCK_MILLIS,
        "deleted_at": tx.now,
        "due_at": tx.now,
    }
    tx.execute(erasures.insert(), queued)
    if row.sender_id != caller.id:
        record(tx, caller, "message.deleted", message_id, space=row.space_id)
    if row.files:
        drop_files(tx, [row.id])
    by = {"id": caller.id, "name": caller.name, "type": caller.type}
    gone = {
        "kind": "text",
        "text": "",
        "tool": None,
        "mentions": None,
        "origin": None,
        "reactions": None,
        "files": None,
    }
    drop_summary(tx, row)
    gone |= unpinned(tx, row)
    return change(tx, row, **gone, deleted_at=tx.now, deleted_by=by)


def _withdraw(tx: Tx, message_id: str, name: str) -> None:
    """The report of a finished turn stays: its orchestrator waits for it."""
    for row in tx.all(_PENDING, {"message": message_id}):
        turn_id = turn_of_event(row.event_id)
        if row.event_id != message_id and turn_id is None:
            continue
        kept = {**row.payload, "reason": f"{name} deleted the message."}
        tx.execute(deliveries.update().where(deliveries.c.id == row.id).values(state="withdrawn", payload=kept))
        if turn_id is not None:
            settled_in_turn(tx, turn_id)
