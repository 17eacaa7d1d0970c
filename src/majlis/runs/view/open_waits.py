"""Open waits for the API: questions of agents and cards that have no answer yet (W10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal, NotRequired

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.asks.queries import names_of, needed, open_asks
from majlis.cards.queries import PendingToolCallJson, list_pending
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.spaces.access import access_space
from majlis.store.tables import entities, members, messages, runs, spaces, wait_answers
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx
from majlis.waits.collect import wait_id
from majlis.waits.wait import Wait

_MOST = 500
_WAITING = (
    sa.select(
        runs.c.id,
        runs.c.agent_id,
        entities.c.name.label("agent_name"),
        runs.c.wait,
        runs.c.deadline,
        messages.c.text,
        members.c.role,
    )
    .select_from(members)
    .join(spaces, spaces.c.id == members.c.space_id)
    .join(runs, sa.and_(runs.c.wait_space_id == members.c.space_id, runs.c.status == word("waiting_reply")))
    .join(entities, entities.c.id == runs.c.agent_id)
    .join(messages, messages.c.id == runs.c.wait_message_id)
    .where(members.c.entity_id == sa.bindparam("who"), spaces.c.deleted_at.is_(None))
    .order_by(runs.c.id)
    .limit(_MOST)
)
_WAITING_IN_SPACE = _WAITING.where(members.c.space_id == sa.bindparam("space"))
_ANSWERS = sa.select(wait_answers).where(wait_answers.c.run_id.in_(sa.bindparam("runs", expanding=True)))


class AnsweredJson(TypedDict):
    """`messageId` is null if a value was submitted to an ask."""

    entityId: str
    messageId: str | None


# "from" is a keyword of Python.
_Awaited = TypedDict("_Awaited", {"from": list[str]})


class OpenWaitJson(_Awaited, TypedDict):
    """`from` has the ids of the members who can answer; it is empty if any member can. `need` is how many have to. An
    ask has an asker instead of an agent and its run."""

    id: str
    kind: Literal["reply", "card", "ask"]
    runId: NotRequired[str]
    agentId: NotRequired[str]
    agentName: NotRequired[str]
    askerId: NotRequired[str]
    askerName: NotRequired[str]
    spaceId: str
    messageId: str
    question: str
    fromNames: list[str]
    need: int
    answered: list[AnsweredJson]
    startedAt: str
    expiresAt: str


class OpenWaitsJson(TypedDict):
    waits: list[OpenWaitJson]


def list_waits(tx: Tx, caller: Caller, for_me: bool, space_id: str | None = None) -> OpenWaitsJson:
    """The open waits in the caller's spaces, oldest first; with `for_me` only those that the caller can answer. Admins
    of the gateway also see the cards that they were given (G5)."""
    if space_id is not None:
        access_space(tx, caller, space_id)
    found = [
        *_replies(tx, caller, for_me, space_id),
        *_cards(tx, caller, for_me, space_id),
        *_asks(tx, caller, for_me, space_id),
    ]
    return {"waits": sorted(found, key=lambda wait: wait["startedAt"])}


def _replies(tx: Tx, caller: Caller, for_me: bool, space_id: str | None) -> list[OpenWaitJson]:
    rows = tx.all(_WAITING if space_id is None else _WAITING_IN_SPACE, {"who": caller.id, "space": space_id})
    waits = {row.id: Wait.model_validate(row.wait) for row in rows}
    answered: dict[str, list[AnsweredJson]] = defaultdict(list)
    collecting = [run_id for run_id, wait in waits.items() if wait.n is not None]
    for each in tx.all(_ANSWERS, {"runs": collecting}) if collecting else ():
        if each.wait_n == waits[each.run_id].n:
            answered[each.run_id].append({"entityId": each.entity_id, "messageId": each.message_id})
    found = [(row, _reply(row, waits[row.id], answered[row.id])) for row in rows]
    return [wait for row, wait in found if not for_me or _may_answer(caller, row, wait)]


def _may_answer(caller: Caller, row: sa.Row[Any], wait: OpenWaitJson) -> bool:
    has_answered = any(each["entityId"] == caller.id for each in wait["answered"])
    named = not wait["from"] or caller.id in wait["from"]
    return row.role != "viewer" and caller.id != row.agent_id and named and not has_answered


def _reply(row: sa.Row[Any], wait: Wait, answered: list[AnsweredJson]) -> OpenWaitJson:
    return {
        "id": wait_id(row.id, wait),
        "kind": "reply",
        "runId": row.id,
        "agentId": row.agent_id,
        "agentName": row.agent_name,
        "spaceId": wait.space_id,
        "messageId": wait.message_id,
        "question": row.text,
        "from": list(wait.from_ or ()),
        "fromNames": list(wait.from_names or ()),
        "need": wait.needed,
        "answered": answered,
        "startedAt": wait.started_at,
        "expiresAt": iso(row.deadline),
    }


def _cards(tx: Tx, caller: Caller, for_me: bool, space_id: str | None) -> list[OpenWaitJson]:
    return [_card(card) for card in list_pending(tx, caller, space_id, for_me)]


def _card(card: PendingToolCallJson) -> OpenWaitJson:
    given = card["input"] if isinstance(card["input"], dict) else {}
    asked = next((given[key] for key in ("question", "text", "title") if isinstance(given.get(key), str)), card["name"])
    return {
        "id": f"{card['runId']}.{card['messageId']}",
        "kind": "card",
        "runId": card["runId"],
        "agentId": card["agentId"],
        "agentName": card["agentName"],
        "spaceId": card["spaceId"],
        "messageId": card["messageId"],
        "question": asked,
        "from": [],
        "fromNames": [],
        "need": 1,
        "answered": [],
        "startedAt": card["createdAt"],
        "expiresAt": card["expiresAt"],
    }


def _asks(tx: Tx, caller: Caller, for_me: bool, space_id: str | None) -> list[OpenWaitJson]:
    return [_ask(tx, *each) for each in open_asks(tx, caller, for_me, space_id)]


def _ask(tx: Tx, row: sa.Row[Any], answers: Sequence[sa.Row[Any]]) -> OpenWaitJson:
    return {
        "id": row.id,
        "kind": "ask",
        "askerId": row.asker_id,
        "askerName": row.asker_name,
        "spaceId": row.space_id,
        "messageId": row.message_id,
        "question": row.question,
        "from": row.named or [],
        "fromNames": names_of(tx, row.named),
        "need": needed(row),
        "answered": [{"entityId": each.entity_id, "messageId": each.message_id} for each in answers],
        "startedAt": iso(row.created_at),
        "expiresAt": iso(row.deadline),
    }
