"""Open cards, for the API and live streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.card_kinds import CardKind
from majlis.cards.approvers import approves
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.spaces.access import access_space
from majlis.store.tables import cards, entities, members, messages, runs, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_MOST = 500

_COLUMNS = (
    sa.select(
        cards.c.call_id,
        cards.c.run_id,
        cards.c.agent_id,
        entities.c.name.label("agent_name"),
        cards.c.space_id,
        cards.c.message_id,
        cards.c.created_at,
        cards.c.deadline,
        cards.c.purpose,
        cards.c.approvals,
        cards.c.to_admins,
        runs.c.person_id,
        messages.c.tool,
    )
    .join(runs, runs.c.id == cards.c.run_id)
    .join(entities, entities.c.id == cards.c.agent_id)
    .join(messages, messages.c.id == cards.c.message_id)
    .join(spaces, spaces.c.id == cards.c.space_id)
    .where(cards.c.state == word("open"), spaces.c.deleted_at.is_(None))
    .order_by(cards.c.id)
    .limit(_MOST)
)
_MINE = sa.select(members.c.space_id).where(members.c.entity_id == sa.bindparam("who"))
_OPEN = _COLUMNS.where(cards.c.space_id.in_(_MINE))
# Approvals that no person in the space may give (G5). Admins decide on them without reading the space.
_FOR_ADMINS = _COLUMNS.where(cards.c.to_admins, cards.c.space_id.not_in(_MINE))
_OPEN_IN_SPACE = _OPEN.where(cards.c.space_id == sa.bindparam("space"))
_ROLES = sa.select(members.c.space_id, members.c.role).where(
    members.c.entity_id == sa.bindparam("who"), members.c.space_id.in_(sa.bindparam("spaces", expanding=True))
)


class PendingToolCallJson(TypedDict):
    """`purpose` is `permission` if a call of the tool `name` waits for approval, `answer` if the tool asks a
    question."""

    toolCallId: str
    runId: str
    agentId: str
    agentName: str
    spaceId: str
    messageId: str
    name: str
    input: Any
    ui: CardKind
    purpose: Literal["answer", "permission"]
    resultSchema: NotRequired[dict[str, Any]]
    mayDecline: NotRequired[bool]
    createdAt: str
    expiresAt: str


def list_pending(
    tx: Tx, caller: Caller, space_id: str | None = None, for_me: bool = False
) -> list[PendingToolCallJson]:
    """Oldest first, of one space or of all the caller's spaces; with `for_me` only those that the caller can answer."""
    if space_id is not None:
        access_space(tx, caller, space_id)
    found = _open_rows(tx, caller.id, space_id)
    if caller.administers and space_id is None:
        found += tx.all(_FOR_ADMINS, {"who": caller.id})
    return list(map(_pending, _answerable(tx, caller, found) if for_me else found))


def open_cards(tx: Tx, entity_id: str, space_id: str | None = None) -> list[PendingToolCallJson]:
    """The open cards of spaces that the entity is a member of (A7)."""
    return list(map(_pending, _open_rows(tx, entity_id, space_id)))


def _open_rows(tx: Tx, entity_id: str, space_id: str | None) -> list[sa.Row[Any]]:
    statement = _OPEN if space_id is None else _OPEN_IN_SPACE
    return list(tx.all(statement, {"who": entity_id, "space": space_id}))


def _answerable(tx: Tx, caller: Caller, rows: Sequence[sa.Row[Any]]) -> list[sa.Row[Any]]:
    """Applies the same rules as `submit_tool_result`."""
    if not rows:
        return []
    given = {"who": caller.id, "spaces": sorted({row.space_id for row in rows})}
    roles = {row.space_id: row.role for row in tx.all(_ROLES, given)}
    return [row for row in rows if _may_answer(caller, row, roles.get(row.space_id))]


def _may_answer(caller: Caller, row: sa.Row[Any], role: str | None) -> bool:
    if caller.id == row.agent_id or (role in (None, "viewer") and not (row.to_admins and caller.administers)):
        return False
    return row.purpose == "answer" or (caller.type == "human" and approves(caller, row, role, row.person_id))


def _pending(row: sa.Row[Any]) -> PendingToolCallJson:
    pending: PendingToolCallJson = {
        "toolCallId": row.call_id,
        "runId": row.run_id,
        "agentId": row.agent_id,
        "agentName": row.agent_name,
        "spaceId": row.space_id,
        "messageId": row.message_id,
        "name": row.tool["name"],
        "input": row.tool["input"],
        "ui": row.tool["ui"],
        "purpose": row.tool["purpose"],
        "resultSchema": row.tool["resultSchema"],
        "createdAt": iso(row.created_at),
        "expiresAt": iso(row.deadline),
    }
    if row.tool.get("mayDecline"):
        pending["mayDecline"] = True
    return pending
