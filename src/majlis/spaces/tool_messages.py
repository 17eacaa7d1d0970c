"""Updates a tool's message with its result. The space gets the changed message as an event."""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa

from majlis.live import log
from majlis.spaces.history import SELECT_MESSAGES
from majlis.spaces.members import find_member
from majlis.spaces.shapes import MessageJson, message_of
from majlis.store.tables import messages
from majlis.store.transactions import Tx


def finish_tool_message(
    tx: Tx, space_id: str, sender_id: str, client_id: str, output: Any, status: Literal["complete", "error"]
) -> None:
    """Does nothing without such a message. A sender that has left the space shows no output there (A7)."""
    marked = messages.c.space_id == space_id, messages.c.sender_id == sender_id, messages.c.client_id == client_id
    found = tx.one(SELECT_MESSAGES.where(*marked))
    if found is None:
        return
    if find_member(tx, space_id, sender_id) is None:
        output, status = None, "error"
    _change(tx, found, {"output": output, "status": status})


def change_tool_message(tx: Tx, space_id: str, message_id: str, changes: dict[str, Any]) -> MessageJson | None:
    found = tx.one(SELECT_MESSAGES.where(messages.c.space_id == space_id, messages.c.id == message_id))
    return _change(tx, found, changes) if found is not None else None


def _change(tx: Tx, found: sa.Row[Any], changes: dict[str, Any]) -> MessageJson:
    tool = {**found.tool, **changes}
    tx.execute(messages.update().where(messages.c.id == found.id).values(tool=tool))
    message = message_of({**found._mapping, "tool": tool})
    data = {"spaceId": found.space_id, "message": message}
    # Not `record_for_space`: the space may have been deleted.
    log.record_together(tx, [(found.space_id, "space.message", data)])
    return message
