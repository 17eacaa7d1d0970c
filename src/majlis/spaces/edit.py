"""Changes messages that were posted: their authors edit them (L1).

Every change holds the space's lock, gives the message a higher revision and records an event. No agent is woken.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden
from majlis.live import log
from majlis.spaces.access import Need, lock_space
from majlis.spaces.history import access_message
from majlis.spaces.post import checked_text
from majlis.spaces.shapes import MessageJson, VersionsJson, message_of
from majlis.spaces.summaries import drop_summary
from majlis.store.tables import entities, members, messages, runs, versions
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

MAX_EDITS = 100
_LAST_VERSION = sa.select(sa.func.max(versions.c.n)).where(versions.c.message_id == sa.bindparam("message"))
# An agent with a run under way may have been shown it.
_SEEN_BY = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(
        members.c.space_id == sa.bindparam("space"),
        entities.c.type == word("agent"),
        sa.or_(
            members.c.processed_seq >= sa.bindparam("seq", type_=sa.BigInteger),
            sa.exists().where(runs.c.agent_id == members.c.entity_id, NOT_OVER),
        ),
    )
    .order_by(members.c.entity_id)
)
_VERSIONS = sa.select(versions).where(versions.c.message_id == sa.bindparam("message")).order_by(versions.c.n)


def edit_message(tx: Tx, caller: Caller, message_id: str, text: str) -> MessageJson:
    """Mentions, waits and deliveries stay as they are. The same text again changes nothing."""
    space, row = lock_message(tx, caller, message_id, "write")
    if row.sender_id != caller.id:
        raise Forbidden("not_the_author", "Only the author of a message can edit it.")
    if row.kind != "text":
        raise Conflict("not_a_text", "Only text messages can be edited.")
    require_not_deleted(row)
    text = checked_text(text)
    if text == row.text:
        return message_of(row._mapping)
    _keep_version(tx, space, row)
    drop_summary(tx, row)
    return change(tx, row, text=text, edited_at=tx.now)


def list_versions(tx: Tx, caller: Caller, message_id: str) -> VersionsJson:
    row = access_message(tx, caller, message_id)
    role = sa.select(members.c.role).where(members.c.space_id == row.space_id, members.c.entity_id == caller.id)
    if row.sender_id != caller.id and tx.execute(role).scalar_one_or_none() != "admin":
        raise Forbidden("not_the_author", "Only the author and admins of the space can read earlier versions.")
    kept = tx.all(_VERSIONS, {"message": message_id})
    return {"versions": [{"text": each.text, "createdAt": iso(each.created_at)} for each in kept]}


def lock_message(tx: Tx, caller: Caller, message_id: str, need: Need) -> tuple[sa.Row[Any], sa.Row[Any]]:
    """The space, locked, and the message as it is then."""
    space = lock_space(tx, caller, access_message(tx, caller, message_id).space_id, need)
    return space, access_message(tx, caller, message_id)


def require_not_deleted(row: sa.Row[Any]) -> None:
    if row.deleted_at is not None:
        raise Conflict("message_deleted", "This message was deleted.")


def change(tx: Tx, row: sa.Row[Any], **values: Any) -> MessageJson:
    """Stores new values and records the whole message as an event."""
    values["revision"] = row.revision + 1
    tx.execute(messages.update().where(messages.c.id == row.id).values(**values))
    message = message_of({**row._mapping, **values})
    log.record_for_space(tx, row.space_id, "space.message", {"spaceId": row.space_id, "message": message})
    return message


def _keep_version(tx: Tx, space: sa.Row[Any], row: sa.Row[Any]) -> None:
    n = (tx.execute(_LAST_VERSION, {"message": row.id}).scalar_one() or 0) + 1
    if n > MAX_EDITS:
        raise Conflict("too_many_edits", f"This message was edited {MAX_EDITS} times. Post a new one.")
    seen = tx.all(_SEEN_BY, {"space": row.space_id, "seq": row.seq})
    values = {
        "message_id": row.id,
        "n": n,
        "space_id": row.space_id,
        "text": row.text,
        "at_seq": space.head_seq,
        "seen_by": [each.entity_id for each in seen],
        "created_at": row.edited_at or row.created_at,
        "replaced_at": tx.now,
    }
    tx.execute(versions.insert(), values)
