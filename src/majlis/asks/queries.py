"""Reads asks: one with its answers, and the open ones of a member's spaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.card_kinds import AskKind
from majlis.clock import iso
from majlis.entities.caller import Caller, EntityType
from majlis.errors import Conflict, NotFound
from majlis.spaces.access import access_space
from majlis.store.tables import ask_answers, asks, entities, members, messages, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

Status = Literal["open", "answered", "expired"]
Reason = Literal["timeout", "left", "withdrawn", "deleted"]

_MOST = 500
_COLUMNS = sa.select(
    asks, entities.c.name.label("asker_name"), entities.c.type.label("asker_type"), entities.c.role.label("asker_role")
).join(entities, entities.c.id == asks.c.asker_id)
SELECT_ASK = _COLUMNS.where(asks.c.id == sa.bindparam("ask"))
_BY_CLIENT_ID = _COLUMNS.join(messages, messages.c.id == asks.c.message_id).where(
    messages.c.space_id == sa.bindparam("space"),
    messages.c.sender_id == sa.bindparam("who"),
    messages.c.client_id == sa.bindparam("client"),
)
_ANSWERS = (
    sa.select(ask_answers, entities.c.name, entities.c.type)
    .join(entities, entities.c.id == ask_answers.c.entity_id)
    .where(ask_answers.c.ask_id.in_(sa.bindparam("asks", expanding=True)))
    .order_by(ask_answers.c.late, ask_answers.c.created_at, ask_answers.c.entity_id)
)
_NAMES = sa.select(entities.c.id, entities.c.name).where(entities.c.id.in_(sa.bindparam("ids", expanding=True)))
_OPEN = (
    _COLUMNS.add_columns(members.c.role.label("my_role"))
    .join(members, sa.and_(members.c.space_id == asks.c.space_id, members.c.entity_id == sa.bindparam("who")))
    .join(spaces, spaces.c.id == asks.c.space_id)
    .where(asks.c.state == word("open"), spaces.c.deleted_at.is_(None))
    .order_by(asks.c.id)
    .limit(_MOST)
)
_OPEN_IN_SPACE = _OPEN.where(asks.c.space_id == sa.bindparam("space"))


class AskAnswerJson(TypedDict):
    """`result` is null if the message with the answer was deleted. A `late` answer came after the end and does not
    count."""

    entityId: str
    name: str
    type: EntityType
    result: Any
    at: str
    late: bool
    messageId: str | None


# "from" is a keyword of Python.
_Asked = TypedDict("_Asked", {"from": list[str]})


class AskJson(_Asked, TypedDict):
    """`from` has the ids of the members who can answer; it is empty if any member can. `need` is how many have to.
    `reason` says why it expired."""

    id: str
    spaceId: str
    messageId: str
    askerId: str
    kind: AskKind
    question: str
    schema: dict[str, Any]
    fromNames: list[str]
    need: int
    status: Status
    reason: Reason | None
    answers: list[AskAnswerJson]
    createdAt: str
    expiresAt: str
    endedAt: str | None


def read_ask(tx: Tx, caller: Caller, ask_id: str) -> AskJson:
    """For every member of its space."""
    return ask_json(tx, access_ask(tx, caller, ask_id))


def access_ask(tx: Tx, caller: Caller, ask_id: str) -> sa.Row[Any]:
    row = tx.one(SELECT_ASK, {"ask": ask_id})
    unknown = NotFound("unknown_ask", f"There is no ask {ask_id} in your spaces.")
    if row is None:
        raise unknown
    try:
        access_space(tx, caller, row.space_id)
    except NotFound:
        raise unknown from None
    return row


def find_repeated(tx: Tx, caller: Caller, space_id: str, client_id: str) -> AskJson:
    """The ask with a client id that was used before."""
    row = tx.one(_BY_CLIENT_ID, {"space": space_id, "who": caller.id, "client": client_id})
    if row is None:
        problem = "This clientId was used for a message that is not an ask. Choose another one."
        raise Conflict("client_id_used", problem, {"path": "clientId"})
    return ask_json(tx, row)


def ask_json(tx: Tx, row: sa.Row[Any]) -> AskJson:
    [(_, answers)] = load_answers(tx, [row])
    is_due = row.state == "open" and row.deadline <= tx.now
    return {
        "id": row.id,
        "spaceId": row.space_id,
        "messageId": row.message_id,
        "askerId": row.asker_id,
        "kind": row.kind,
        "question": row.question,
        "schema": row.result_schema,
        "from": row.named or [],
        "fromNames": names_of(tx, row.named),
        "need": needed(row),
        "status": "expired" if is_due else row.state,
        "reason": "timeout" if is_due else row.reason,
        "answers": [answer_json(each) for each in answers],
        "createdAt": iso(row.created_at),
        "expiresAt": iso(row.deadline),
        "endedAt": iso(row.ended_at) if row.ended_at is not None else None,
    }


def needed(row: sa.Row[Any]) -> int:
    return len(row.named) if row.need is None else int(row.need)


def load_answers(tx: Tx, rows: Sequence[sa.Row[Any]]) -> list[tuple[sa.Row[Any], list[sa.Row[Any]]]]:
    """Each ask with its answers, in their order, late ones last."""
    found: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for each in tx.all(_ANSWERS, {"asks": [row.id for row in rows]}) if rows else ():
        found[each.ask_id].append(each)
    return [(row, found[row.id]) for row in rows]


def names_of(tx: Tx, ids: Sequence[str] | None) -> list[str]:
    names = {row.id: row.name for row in tx.all(_NAMES, {"ids": list(ids)})} if ids else {}
    return [names[each] for each in ids or () if each in names]


def answer_json(row: sa.Row[Any]) -> AskAnswerJson:
    return {
        "entityId": row.entity_id,
        "name": row.name,
        "type": row.type,
        "result": row.result,
        "at": iso(row.created_at),
        "late": row.late,
        "messageId": row.message_id,
    }


def open_asks(
    tx: Tx, caller: Caller, for_me: bool, space_id: str | None = None
) -> list[tuple[sa.Row[Any], list[sa.Row[Any]]]]:
    """The open asks in the caller's spaces, with the answers so far; with `for_me` only those that the caller can
    answer."""
    rows = tx.all(_OPEN if space_id is None else _OPEN_IN_SPACE, {"who": caller.id, "space": space_id})
    found = load_answers(tx, rows)
    return [(row, given) for row, given in found if not for_me or _is_for(caller, row, given)]


def _is_for(caller: Caller, row: sa.Row[Any], given: Sequence[sa.Row[Any]]) -> bool:
    has_answered = any(each.entity_id == caller.id for each in given)
    return row.my_role != "viewer" and not has_answered and why_not(row, caller) is None


def why_not(row: sa.Row[Any], caller: Caller) -> tuple[str, str] | None:
    """Why a member who may write cannot answer, as a code and words; None if it can."""
    if row.kind == "approval" and caller.type != "human":
        return "people_only", "Only a person can answer a request for approval."
    if caller.id == row.asker_id and not may_answer_own(row.kind, caller):
        own = (
            "You asked for this approval, so you cannot give it. Ask another member." if caller.type == "human" else ""
        )
        return "own_question", own or "You asked this, so you cannot answer it."
    if row.named is not None and caller.id not in row.named:
        return "not_asked", "This question is for other members of the space."
    return None


def may_answer_own(kind: AskKind, asker: Caller) -> bool:
    """A person may have a program ask in their name. Their own approval counts only if they administer the gateway
    (G5)."""
    return asker.type == "human" and (kind != "approval" or asker.administers)
