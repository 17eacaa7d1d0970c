"""Wire shapes of spaces, members, messages and phases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import EntityType

Triggers = Literal["everyone", "mentioned", "orchestrated"]
SpaceRole = Literal["admin", "member", "viewer"]
MessageKind = Literal["text", "tool", "notice"]


class SenderJson(TypedDict):
    id: str
    name: str
    type: EntityType


class ToolJson(TypedDict):
    callId: str
    name: str
    input: Any
    output: Any
    status: Literal["running", "complete", "error"]
    ui: str | None
    # Only for cards, whose `ui` is not null.
    purpose: NotRequired[Literal["answer", "permission"]]
    resultSchema: NotRequired[dict[str, Any]]
    expiresAt: NotRequired[str]
    answeredBy: NotRequired[SenderJson]
    answeredAt: NotRequired[str]


class OriginJson(TypedDict):
    sourceSpace: str
    sourceEvent: str


class MessageJson(TypedDict):
    id: str
    spaceId: str
    seq: int
    sender: SenderJson
    kind: MessageKind
    text: str
    tool: NotRequired[ToolJson]
    replyTo: str | None
    mentions: list[str]
    origin: OriginJson | None
    runId: str | None
    chainDepth: int
    clientId: str | None
    createdAt: str


class MemberJson(TypedDict):
    id: str
    entityId: str
    name: str
    type: EntityType
    role: SpaceRole
    joinedAt: str


class PolicyRuleJson(TypedDict):
    tools: str
    do: Literal["allow", "ask", "deny"]


class SpaceFactsJson(TypedDict):
    """The part of a space that is the same for every member."""

    id: str
    name: str
    description: str
    triggers: Triggers
    orchestratorId: str | None
    phase: str | None
    toolPolicy: list[PolicyRuleJson]
    createdAt: str


class SpaceJson(SpaceFactsJson):
    """A space as the caller sees it."""

    role: SpaceRole
    members: list[MemberJson]
    unreadCount: int
    lastMessage: MessageJson | None
    lastSeenMessageId: str | None
    lastSeenSeq: int
    eventSeq: int


class SpaceOutlineJson(TypedDict):
    """A space as admins of the gateway see it."""

    id: str
    name: str
    description: str
    triggers: Triggers
    members: list[MemberJson]
    messageCount: int
    createdAt: str


class PhaseJson(TypedDict):
    id: str
    spaceId: str
    fromPhase: str | None
    toPhase: str
    message: str | None
    summary: str | None
    reason: str | None
    entityId: str
    createdAt: str


def message_json(row: sa.Row[Any]) -> MessageJson:
    return message_of(row._mapping)


def message_of(column: Mapping[Any, Any]) -> MessageJson:
    """From the columns of `messages`, plus `sender_name` and `sender_type`."""
    message: MessageJson = {
        "id": column["id"],
        "spaceId": column["space_id"],
        "seq": column["seq"],
        "sender": {"id": column["sender_id"], "name": column["sender_name"], "type": column["sender_type"]},
        "kind": column["kind"],
        "text": column["text"],
        "replyTo": column["reply_to"],
        "mentions": column["mentions"] or [],
        "origin": _origin(column["origin"]),
        "runId": column["run_id"],
        "chainDepth": column["chain_depth"],
        "clientId": column["client_id"],
        "createdAt": iso(column["created_at"]),
    }
    if column["tool"] is not None:
        message["tool"] = column["tool"]
    return message


def _origin(kept: Mapping[str, Any] | None) -> OriginJson | None:
    """Only the ids: the source message is for members of its space (M14)."""
    return {"sourceSpace": kept["sourceSpace"], "sourceEvent": kept["sourceEvent"]} if kept else None


def member_json(row: sa.Row[Any]) -> MemberJson:
    return {
        "id": row.entity_id,
        "entityId": row.entity_id,
        "name": row.name,
        "type": row.type,
        "role": row.role,
        "joinedAt": iso(row.joined_at),
    }


def space_facts(row: sa.Row[Any], prefix: str = "") -> SpaceFactsJson:
    """From the columns of `spaces`, whose labels may have a prefix."""
    column = row._mapping
    return {
        "id": column[f"{prefix}id"],
        "name": column[f"{prefix}name"],
        "description": column[f"{prefix}description"],
        "triggers": column[f"{prefix}triggers"],
        "orchestratorId": column[f"{prefix}orchestrator_id"],
        "phase": column[f"{prefix}phase"],
        "toolPolicy": column[f"{prefix}tool_policy"] or [],
        "createdAt": iso(column[f"{prefix}created_at"]),
    }


def phase_json(row: sa.Row[Any]) -> PhaseJson:
    return {
        "id": row.id,
        "spaceId": row.space_id,
        "fromPhase": row.from_phase,
        "toPhase": row.to_phase,
        "message": row.message,
        "summary": row.summary,
        "reason": row.reason,
        "entityId": row.entity_id,
        "createdAt": iso(row.created_at),
    }
