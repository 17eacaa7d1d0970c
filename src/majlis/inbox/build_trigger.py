"""Builds a run's trigger from its delivery (T11). The message is read when the run begins, not copied into every
agent's inbox; an agent that has left the space gets none (A7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.clock import iso
from majlis.inbox.trigger_shapes import EventJson, TriggerJson
from majlis.spaces.damaged_rows import Unreadable, all_sound, reading, set_aside_named
from majlis.store.hot import among, hot
from majlis.store.tables import deliveries, entities, members, messages, runs, spaces
from majlis.store.transactions import Tx
from majlis.waits.wait import Wait

# The most that a cycle keeps of its events. The messages themselves are stored whole.
_MAX_BYTES = 1024 * 1024

_before = messages.alias("before")
_answered = messages.alias("answered")
_expired = runs.alias("expired")
_MESSAGES = (
    sa.select(
        deliveries.c.id.label("delivery_id"),
        messages.c.id,
        messages.c.text,
        messages.c.files,
        messages.c.deleted_at,
        messages.c.created_at,
        messages.c.reply_to,
        spaces.c.id.label("space_id"),
        spaces.c.name.label("space_name"),
        spaces.c.triggers,
        spaces.c.orchestrator_id,
        entities.c.id.label("sender_id"),
        entities.c.name.label("sender_name"),
        entities.c.type.label("sender_type"),
        _answered.c.id.label("answered"),
        _expired.c.wait.label("expired_wait"),
    )
    .join(messages, messages.c.id == deliveries.c.message_id)
    .join(spaces, sa.and_(spaces.c.id == messages.c.space_id, spaces.c.deleted_at.is_(None)))
    .join(members, sa.and_(members.c.space_id == spaces.c.id, members.c.entity_id == deliveries.c.agent_id))
    .join(entities, entities.c.id == messages.c.sender_id)
    .outerjoin(_before, sa.and_(_before.c.space_id == messages.c.space_id, _before.c.seq == messages.c.seq - 1))
    # The question of this agent that this message answers or directly follows: did its wait time out (M8)?
    .outerjoin(_answered, _answered.c.id == sa.func.coalesce(messages.c.reply_to, _before.c.id))
    .outerjoin(_expired, sa.and_(_expired.c.id == _answered.c.run_id, _expired.c.agent_id == deliveries.c.agent_id))
)
_THESE = hot(_MESSAGES.where(among(deliveries.c.id, "deliveries")))
# The most that are read before it is known which of them will start a run.
_MOST_AHEAD = 4


@dataclass(slots=True)
class AskedMessages:
    """The messages of some deliveries, which arrive with the next round trip."""

    ids: frozenset[str]
    rows: sa.CursorResult[Any] | None


def ask_ahead(tx: Tx, due: Sequence[sa.Row[Any]]) -> AskedMessages:
    wanted = frozenset(each.id for each in due if each.type == "space_message")
    if not 0 < len(wanted) <= _MOST_AHEAD:
        return AskedMessages(frozenset(), None)
    return AskedMessages(wanted, tx.ask(_THESE, {"deliveries": sorted(wanted)}))


def build_triggers(tx: Tx, chosen: Sequence[sa.Row[Any]], asked: AskedMessages | None = None) -> dict[str, TriggerJson]:
    """The triggers by delivery id. None for a message that the agent may no longer read, or that is damaged (R9)."""
    triggers = {each.id: _plain(each) for each in chosen if each.type != "space_message"}
    about_messages = {each.id: each for each in chosen if each.type == "space_message"}
    for row in _look_up(tx, about_messages, asked):
        triggers[row.delivery_id] = _of_message(about_messages[row.delivery_id], row)
    return triggers


def _look_up(tx: Tx, wanted: Mapping[str, sa.Row[Any]], asked: AskedMessages | None) -> Sequence[sa.Row[Any]]:
    if not wanted:
        return ()
    try:
        with reading():
            if asked is not None and asked.rows is not None and wanted.keys() <= asked.ids:
                return all_sound([row for row in asked.rows.all() if row.delivery_id in wanted])
            return all_sound(tx.all(_THESE, {"deliveries": sorted(wanted)}))
    except Unreadable:
        return [row for each in wanted.values() for row in _look_at(tx, each)]


def _look_at(tx: Tx, delivery: sa.Row[Any]) -> Sequence[sa.Row[Any]]:
    """Leaves out a damaged message and logs it: retrying it would block the queue for good."""
    try:
        with reading():
            return all_sound(tx.all(_THESE, {"deliveries": [delivery.id]}))
    except Unreadable as error:
        set_aside_named(tx, delivery.message_id, error)
        return ()


def _plain(delivery: sa.Row[Any]) -> TriggerJson:
    """Plans, services, heartbeats and tool results carry everything in their payload."""
    payload = {key: value for key, value in delivery.payload.items() if key != "earlierRuns"}
    trigger: TriggerJson = {**payload, "type": delivery.type, "chainDepth": delivery.chain_depth}  # type: ignore[typeddict-item]
    return trigger


def _of_message(delivery: sa.Row[Any], row: sa.Row[Any]) -> TriggerJson:
    trigger: TriggerJson = {
        "type": "space_message",
        "spaceId": row.space_id,
        "spaceName": row.space_name,
        "messageId": row.id,
        "senderId": row.sender_id,
        "senderName": row.sender_name,
        "senderType": row.sender_type,
        "text": row.text if row.deleted_at is None else "[deleted]",
        "timestamp": iso(row.created_at),
        "senderExpectsReply": bool(delivery.payload.get("senderExpectsReply")),
        "chainDepth": delivery.chain_depth,
    }
    if row.files and row.deleted_at is None:
        trigger["files"] = row.files
    if row.reply_to:
        trigger["replyTo"] = row.reply_to
    if row.triggers == "orchestrated" and row.orchestrator_id == delivery.agent_id:
        trigger["orchestrates"] = True
    if "turnId" in delivery.payload:
        trigger["turnId"] = delivery.payload["turnId"]
    if "again" in delivery.payload:
        trigger["again"] = True
    if row.expired_wait is not None and row.answered in Wait.model_validate(row.expired_wait).expired_questions:
        trigger["answersExpired"] = row.answered
    return trigger


def cycle_trigger(events: Sequence[EventJson]) -> TriggerJson:
    """The trigger of a cycle with these events."""
    share = _MAX_BYTES // len(events)
    kept = [_truncated(event, share) for event in events]
    trigger: TriggerJson = {**kept[0], "chainDepth": max(event["chainDepth"] for event in events), "events": kept}
    return trigger


def _truncated(event: EventJson, share: int) -> EventJson:
    if len(orjson.dumps(event)) <= share:
        return event
    shorter: EventJson = {**event}
    if "text" in event:
        shorter["text"] = f"{event['text'][: share // 4]}…"
    for name in ("payload", "result"):
        if name in event:
            shorter[name] = {"truncated": orjson.dumps(event[name]).decode()[: share // 4]}
    return shorter
