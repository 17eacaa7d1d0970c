"""Why a message was sent: hop by hop back to what the chain began with (F6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NotRequired

import orjson
import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.entities.caller import Caller
from majlis.runs.run import origin_of
from majlis.spaces.acts_for import spaces_of
from majlis.spaces.history import MESSAGE_COLUMNS, access_message
from majlis.spaces.shapes import SenderJson
from majlis.store.tables import cards, causes, entities, messages, runs, spaces
from majlis.store.transactions import Tx

MAX_HOPS = 50
MAX_TEXT = 300
HopKind = Literal["message", "plan", "service", "card", "heartbeat"]

_RUN = sa.select(runs.c.id, runs.c.agent_id, runs.c.person_id, runs.c.cause_id, runs.c.trigger).where(
    runs.c.id == sa.bindparam("run")
)
_parent = causes.alias("parent")
# The message of the chain in which a plan was made.
_ASKED_FOR = (
    sa.select(_parent.c.message_id)
    .join(causes, causes.c.parent_id == _parent.c.id)
    .where(causes.c.id == sa.bindparam("cause"))
)
_CARD = (
    sa.select(cards.c.message_id)
    .where(cards.c.agent_id == sa.bindparam("agent"), cards.c.call_id == sa.bindparam("call"))
    .order_by(cards.c.id.desc())
    .limit(1)
)


class HopJson(TypedDict):
    """A hidden hop has only `kind` and `hidden`."""

    kind: HopKind
    hidden: bool
    messageId: NotRequired[str]
    spaceId: NotRequired[str]
    spaceName: NotRequired[str]
    sender: NotRequired[SenderJson]
    text: NotRequired[str]


class WhyJson(TypedDict):
    hops: list[HopJson]


@dataclass(frozen=True, slots=True)
class Reader:
    """`readable` selects messages. Plans and service events are shown if their run is for one of `ids`."""

    readable: sa.ColumnElement[bool]
    ids: frozenset[str]
    everything: bool = False


def get_why(tx: Tx, caller: Caller, message_id: str) -> WhyJson:
    """Nearest first, the beginning of the chain last. Empty for a message that nothing else caused."""
    message = access_message(tx, caller, message_id)
    mine = messages.c.space_id.in_(spaces_of(caller.id))
    return explain(tx, message, Reader(mine, frozenset({caller.id}), caller.administers))


def explain(tx: Tx, message: sa.Row[Any], reader: Reader) -> WhyJson:
    return {"hops": list(islice(_before(tx, message, reader), MAX_HOPS))}


def _before(tx: Tx, message: sa.Row[Any], reader: Reader) -> Iterator[HopJson]:
    run = tx.one(_RUN, {"run": message.run_id}) if message.run_id is not None else None
    if run is None:
        # An agent's message over the API continues a chain (T6).
        if message.caused_by not in (None, message.id):
            yield from _from_message(tx, message.caused_by, reader)
        return
    event = origin_of(run.trigger)
    match event["type"]:
        case "space_message":
            yield from _from_message(tx, event["messageId"], reader)
        case "tool_result":
            card = tx.one(_CARD, {"agent": run.agent_id, "call": event["toolCallId"]})
            yield from _from_message(tx, card.message_id, reader, "card") if card else [_hidden("card")]
        case "plan":
            yield _event(reader, run, "plan", f"{event['planName']}: {event['instruction']}")
            asked = tx.one(_ASKED_FOR, {"cause": run.cause_id})
            if asked is not None and asked.message_id is not None:
                yield from _from_message(tx, asked.message_id, reader)
        case "service":
            said = orjson.dumps(event["payload"]).decode()
            yield _event(reader, run, "service", f"{event['serviceName']}: {said}")
        case _:
            yield {"kind": "heartbeat", "hidden": False, "text": str(event.get("scheduledAt", ""))}


def _from_message(tx: Tx, message_id: str, reader: Reader, kind: HopKind = "message") -> Iterator[HopJson]:
    found = (
        sa.select(
            *MESSAGE_COLUMNS,
            spaces.c.name.label("space_name"),
            sa.and_(reader.readable, spaces.c.deleted_at.is_(None)).label("readable"),
        )
        .join(entities, entities.c.id == messages.c.sender_id)
        .join(spaces, spaces.c.id == messages.c.space_id)
        .where(messages.c.id == message_id)
    )
    row = tx.one(found)
    if row is None:
        yield _hidden(kind)
        return
    yield _message(row, kind) if row.readable else _hidden(kind)
    yield from _before(tx, row, reader)


def _message(row: sa.Row[Any], kind: HopKind) -> HopJson:
    return {
        "kind": kind,
        "hidden": False,
        "messageId": row.id,
        "spaceId": row.space_id,
        "spaceName": row.space_name,
        "sender": {"id": row.sender_id, "name": row.sender_name, "type": row.sender_type},
        "text": _start(row.text or str((row.tool or {}).get("name", ""))),
    }


def _event(reader: Reader, run: sa.Row[Any], kind: HopKind, text: str) -> HopJson:
    """A plan or an event of a service has no space: it is for the agent, the person it acts for, and admins."""
    if reader.everything or not reader.ids.isdisjoint((run.agent_id, run.person_id)):
        return {"kind": kind, "hidden": False, "text": _start(text)}
    return _hidden(kind)


def _hidden(kind: HopKind) -> HopJson:
    return {"kind": kind, "hidden": True}


def _start(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
