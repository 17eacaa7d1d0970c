"""Wire shapes of spaces, members, messages and phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.card_kinds import AskKind
from majlis.clock import iso
from majlis.entities.caller import EntityType
from majlis.entities.shapes import picture_path

Triggers = Literal["everyone", "mentioned", "orchestrated", "elected"]
SpaceRole = Literal["admin", "member", "viewer"]
MessageKind = Literal["text", "tool", "notice"]
OriginKind = Literal["plan", "service", "card", "heartbeat"]


# By the type of the event.
_ORIGINS: dict[str, OriginKind] = {
    "plan": "plan",
    "service": "service",
    "tool_result": "card",
    "heartbeat": "heartbeat",
}


class SenderJson(TypedDict):
    id: str
    name: str
    type: EntityType


class AskGivenJson(TypedDict):
    by: SenderJson
    result: Any
    at: str
    messageId: str | None


class AskStateJson(TypedDict):
    """A question of a program (D5): who can answer (empty: any member), how many have to, and the answers so far."""

    id: str
    kind: AskKind
    fromIds: list[str]
    need: int
    answers: list[AskGivenJson]


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
    # An MCP server asks (D6): people may decline to answer.
    mayDecline: NotRequired[bool]
    # Only for asks. They are answered with `POST /api/asks/{id}/answers`.
    ask: NotRequired[AskStateJson]


class OriginJson(TypedDict):
    """The ids of a message in another space, or the kind of another event (F6). `why` tells the rest."""

    sourceSpace: NotRequired[str]
    sourceEvent: NotRequired[str]
    kind: NotRequired[OriginKind]


class StopperJson(TypedDict):
    id: str
    name: str


class ReactionJson(TypedDict):
    emoji: str
    count: int
    entityIds: list[str]


class FileJson(TypedDict):
    id: str
    name: str
    mediaType: str
    bytes: int
    # Only for pictures.
    width: NotRequired[int]
    height: NotRequired[int]
    sha256: str


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
    # Only if a person stopped the agent while it wrote this (L7).
    stoppedBy: NotRequired[StopperJson]
    files: NotRequired[list[FileJson]]
    # The agent had not read a message before this one when it was posted (E8).
    crossed: NotRequired[bool]
    createdAt: str
    # Grows with every change of the message.
    revision: NotRequired[int]
    reactions: NotRequired[list[ReactionJson]]
    pinned: NotRequired[bool]
    # Only in the list of a space's pins: since when, and the id of the member who pinned it.
    pinnedAt: NotRequired[str]
    pinnedBy: NotRequired[str]
    editedAt: NotRequired[str | None]
    # A deleted message has an empty text.
    deletedAt: NotRequired[str | None]
    deletedBy: NotRequired[SenderJson | None]


class VersionJson(TypedDict):
    text: str
    createdAt: str


class VersionsJson(TypedDict):
    """The earlier texts of an edited message, oldest first."""

    versions: list[VersionJson]


class MemberJson(TypedDict):
    id: str
    entityId: str
    name: str
    type: EntityType
    role: SpaceRole
    # The path of its picture.
    picture: str | None
    # Only for agents in the list of a space's members: paused (E7), and with whose rights it reads and posts (G3).
    paused: NotRequired[bool]
    actsFor: NotRequired[Literal["asker", "itself"]]
    joinedAt: str


class PolicyRuleJson(TypedDict):
    tools: str
    do: Literal["allow", "ask", "deny"]
    approvers: NotRequired[list[str]]
    requesterMayApprove: NotRequired[bool]


class SpaceFactsJson(TypedDict):
    """The part of a space that is the same for every member."""

    id: str
    name: str
    description: str
    triggers: Triggers
    orchestratorId: str | None
    phase: str | None
    # A conversation of two members. Each of them sees the other's name as its name (L8).
    direct: bool
    # How long agents' messages gather at most before they wake other agents (E1); 0 delivers them at once.
    gatherMillis: int
    # No agent works here until an admin resumes it (E7).
    paused: bool
    toolPolicy: list[PolicyRuleJson]
    # Where chains of agents end here; None for the gateway's limit.
    maxChainDepth: int | None
    # `on`: messages that left agents' windows are summarised (F3).
    summaries: Literal["on", "off"]
    createdAt: str


class SpaceJson(SpaceFactsJson):
    """A space as the caller sees it."""

    role: SpaceRole
    members: list[MemberJson]
    unreadCount: int
    # The numbers of unread messages that mention the caller, among the newest 500.
    unreadMentions: list[int]
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
    direct: bool
    paused: bool
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
        "files": column["files"] or [],
        "crossed": bool(column.get("crossed")),
        "createdAt": iso(column["created_at"]),
        "revision": column.get("revision") or 0,
        "reactions": reactions_json(column.get("reactions")),
        "pinned": column.get("pinned_at") is not None,
        "editedAt": _iso(column.get("edited_at")),
        "deletedAt": _iso(column.get("deleted_at")),
        "deletedBy": column.get("deleted_by"),
    }
    if column["tool"] is not None:
        message["tool"] = column["tool"]
    if column["stopped_by"]:
        message["stoppedBy"] = column["stopped_by"]
    return message


def reactions_json(kept: Sequence[Mapping[str, Any]] | None) -> list[ReactionJson]:
    return [
        {"emoji": each["emoji"], "count": len(each["entityIds"]), "entityIds": each["entityIds"]} for each in kept or ()
    ]


def _iso(at: int | None) -> str | None:
    return iso(at) if at is not None else None


def _origin(kept: Mapping[str, Any] | None) -> OriginJson | None:
    """Only the ids: the source message is for members of its space (M14). The name of a plan or service may be private
    to its agent."""
    if kept and "sourceSpace" in kept:
        return {"sourceSpace": kept["sourceSpace"], "sourceEvent": kept["sourceEvent"]}
    kind = _ORIGINS.get(str(kept["kind"])) if kept and "kind" in kept else None
    return {"kind": kind} if kind else None


def member_json(row: sa.Row[Any]) -> MemberJson:
    return {
        "id": row.entity_id,
        "entityId": row.entity_id,
        "name": row.name,
        "type": row.type,
        "role": row.role,
        "picture": picture_path(row),
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
        "direct": column[f"{prefix}direct_key"] is not None,
        "gatherMillis": column[f"{prefix}gather_millis"],
        "paused": column[f"{prefix}paused_at"] is not None,
        "toolPolicy": column[f"{prefix}tool_policy"] or [],
        "maxChainDepth": column[f"{prefix}max_chain_depth"],
        "summaries": "on" if column[f"{prefix}summaries"] else "off",
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
