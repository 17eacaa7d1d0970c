"""`edit_message`, `delete_message` and `react` (L1–L3), `pin_message` and `unpin_message`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.errors import Forbidden
from majlis.inbox.withdraw import delete_message as delete
from majlis.runs.calls.behalf import access_as_run
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.spaces import edit, pins, reactions
from majlis.spaces.history import access_message
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in

MessageId = Annotated[str, Field(min_length=1, max_length=64)]


class EditMessage(Input):
    message_id: MessageId
    """The id of your message."""
    text: Annotated[str, Field(min_length=1)]
    """The new text."""


class DeleteMessage(Input):
    message_id: MessageId
    """The id of your message."""


class React(Input):
    message_id: MessageId
    """The id of the message."""
    emoji: Annotated[str, Field(min_length=1, max_length=32)]
    """One emoji."""


class PinMessage(Input):
    message_id: MessageId
    """The id of the message."""


class UnpinMessage(Input):
    message_id: MessageId
    """The id of the pinned message."""


@built_in(
    "Change the text of a message that you sent. It wakes no agent: to tell members something new, send a message."
)
def edit_message(tx: Tx, call: CallContext, input: EditMessage) -> ToolResult:
    changed = edit.edit_message(tx, call.run.caller, _reached(tx, call, input.message_id), input.text)
    return {"success": True, "messageId": changed["id"], "revision": changed["revision"]}


@built_in("Delete a message that you sent. Its text is removed everywhere and cannot be restored.")
def delete_message(tx: Tx, call: CallContext, input: DeleteMessage) -> ToolResult:
    message_id = _reached(tx, call, input.message_id)
    if access_message(tx, call.run.caller, message_id).sender_id != call.run.agent_id:
        raise Forbidden("not_the_author", "Nothing was deleted: you can only delete your own messages.")
    return {"success": True, "messageId": delete(tx, call.run.caller, message_id)["id"]}


@built_in(
    "React to a message with one emoji. Use it instead of a message that would only say seen, yes or thanks: it wakes "
    "no agent."
)
def react(tx: Tx, call: CallContext, input: React) -> ToolResult:
    changed = reactions.react(tx, call.run.caller, _reached(tx, call, input.message_id), input.emoji)
    return {"success": True, "messageId": changed["id"]}


@built_in("Pin a message to its space, for what members and agents should keep in view. It wakes no agent.")
def pin_message(tx: Tx, call: CallContext, input: PinMessage) -> ToolResult:
    pinned = pins.pin(tx, call.run.caller, _reached(tx, call, input.message_id))
    return {"success": True, "messageId": pinned["id"]}


@built_in("Unpin a message that is no longer needed in view.")
def unpin_message(tx: Tx, call: CallContext, input: UnpinMessage) -> ToolResult:
    unpinned = pins.unpin(tx, call.run.caller, _reached(tx, call, input.message_id))
    return {"success": True, "messageId": unpinned["id"]}


def _reached(tx: Tx, call: CallContext, given: str) -> str:
    """The id of a message in a space that the run may use (G3). The timeline shows ids as [msg:msg_…]."""
    message_id = given.removeprefix("msg:")
    row = access_message(tx, call.run.caller, message_id)
    access_as_run(tx, call.run, row.space_id, "Nothing was changed")
    return message_id
