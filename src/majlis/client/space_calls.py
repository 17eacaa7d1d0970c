"""Calls about spaces, their members and messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack
from uuid import uuid4

from majlis.client import wire
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes


class SpaceCalls:
    @call
    def list_spaces(self) -> Call[list[shapes.SpaceJson]]:
        """Your spaces, most recently active first."""
        return wire.get("spaces")

    @call
    def get_space(self, space_id: str) -> Call[shapes.SpaceJson]:
        return wire.get("spaces", space_id)

    @call
    def create_space(
        self,
        name: str,
        description: str | None = None,
        triggers: shapes.Triggers | None = None,
        orchestrator_id: str | None = None,
    ) -> Call[shapes.SpaceJson]:
        body = wire.given(name=name, description=description, triggers=triggers, orchestrator_id=orchestrator_id)
        return wire.post("spaces", body=body)

    @call
    def change_space(self, space_id: str, **changes: Unpack[shapes.SpaceChanges]) -> Call[shapes.SpaceJson]:
        return wire.patch("spaces", space_id, body=wire.camel(changes))

    @call
    def delete_space(self, space_id: str) -> Call[None]:
        return wire.delete("spaces", space_id)

    @call
    def list_members(self, space_id: str) -> Call[list[shapes.MemberJson]]:
        return wire.get("spaces", space_id, "members")

    @call
    def add_member(
        self, space_id: str, entity_id: str, role: shapes.SpaceRole | None = None
    ) -> Call[shapes.MemberJson]:
        """Adding an existing member is not an error; a different role replaces the current one."""
        body = wire.given(entity_id=entity_id, role=role)
        return wire.post("spaces", space_id, "members", body=body, repeatable=True)

    @call
    def remove_member(self, space_id: str, entity_id: str) -> Call[None]:
        return wire.delete("spaces", space_id, "members", entity_id)

    @call
    def post(
        self,
        space_id: str,
        text: str,
        client_id: str | None = None,
        reply_to: str | None = None,
        mentions: Sequence[str] = (),
        session_id: str | None = None,
    ) -> Call[shapes.MessageJson]:
        """Posts a message. It always has a client id, so a retry does not post it twice."""
        body = wire.given(
            text=text,
            client_id=client_id or uuid4().hex,
            reply_to=reply_to,
            mentions=list(mentions) or None,
            session_id=session_id,
        )
        return wire.post("spaces", space_id, "messages", body=body, repeatable=True)

    @call
    def list_messages(
        self, space_id: str, limit: int | None = None, before: str | None = None, after: str | None = None
    ) -> Call[shapes.MessagePageJson]:
        """Oldest first. Without a cursor, the newest ones."""
        return wire.get("spaces", space_id, "messages", limit=limit, before=before, after=after)

    @call
    def get_message(self, message_id: str) -> Call[shapes.MessageJson]:
        return wire.get("messages", message_id)

    @call
    def mark_read(self, space_id: str, last_message_id: str) -> Call[shapes.ReadJson]:
        """Moves your read position forward to this message. It never moves back."""
        return wire.post("spaces", space_id, "read", body=wire.given(last_message_id=last_message_id), repeatable=True)

    @call
    def search(
        self, query: str, space_id: str | None = None, limit: int | None = None, before: str | None = None
    ) -> Call[shapes.SearchJson]:
        """Messages that contain every word of the query, newest first. The last word may be a prefix."""
        return wire.get("search", q=query, space_id=space_id, limit=limit, before=before)

    @call
    def enter_phase(
        self,
        space_id: str,
        phase: str,
        message: str | None = None,
        summary: str | None = None,
        reason: str | None = None,
    ) -> Call[shapes.PhaseJson]:
        body = wire.given(phase=phase, message=message, summary=summary, reason=reason)
        return wire.post("spaces", space_id, "phase", body=body)

    @call
    def list_phases(self, space_id: str) -> Call[list[shapes.PhaseJson]]:
        """Newest first."""
        return wire.get("spaces", space_id, "phases")
