"""`read_messages`: history of the active space, or of another one without going there (M13)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from majlis.errors import Invalid, NotFound
from majlis.runs.calls.context import Acting, ToolResult
from majlis.spaces.access import access_space
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input
from majlis.tools.reading import newest, remember_shown


class ReadMessages(Input):
    space_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """A space of yours; left out: the active space."""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """How many messages to return."""
    offset: Annotated[int, Field(ge=0, le=2**53)] = 0
    """How many of the newest messages to skip."""


def read_messages(tx: Tx, acting: Acting, input: ReadMessages) -> ToolResult:
    space_id = input.space_id or acting.active_space_id
    if space_id is None:
        raise Invalid("no_active_space", "No space is active. Give spaceId, or call enter_space first.")
    try:
        space = access_space(tx, acting.caller, space_id)
    except NotFound:
        raise NotFound(
            "not_a_member", f"You are not a member of {space_id}. Your spaces and their ids are under YOUR SPACES."
        ) from None
    if input.offset == 0:
        remember_shown(acting, space.id, space.head_seq)
    page = newest(tx, space.id, space.head_seq, input.offset, input.limit)
    return {
        "success": True,
        "spaceId": space.id,
        "spaceName": space.name,
        "messages": page.lines,
        "total": space.head_seq,
        **page.note,
    }


TOOL = BuiltIn(
    "read_messages",
    "Read messages of a space you belong to, oldest first. offset counts from the newest: limit 50 with offset 50 is "
    "the page before the last 50.",
    ReadMessages,
    read_messages,
)
