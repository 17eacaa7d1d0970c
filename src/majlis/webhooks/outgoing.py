"""Outgoing webhooks: which events of which spaces go to which URL, and the log of what was sent (D4)."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import Any, Literal, get_args

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.audit.record import record
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.entities.entities import LIVING
from majlis.errors import Conflict, Forbidden, Invalid, NotFound
from majlis.hosts import parse_target
from majlis.secret_store import Cipher
from majlis.spaces.access import access_space
from majlis.store import ids
from majlis.store.tables import (
    agents,
    entities,
    members,
    outgoing_webhooks,
    spaces,
    webhook_cursors,
    webhook_deliveries,
)
from majlis.store.tables import events as log
from majlis.store.tables.agents import IS_OUTSIDE
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

EventType = Literal[
    "*", "space.message", "message.reactions", "space.member.joined", "space.member.left", "space.member.updated",
    "space.updated", "wait.updated", "run.started", "run.waiting_reply", "run.waiting_tool", "run.resumed",
    "run.completed", "run.failed", "run.canceled", "run.absorbed", "agent.active", "agent.inactive", "agent.paused",
    "agent.unpaused",
]  # fmt: skip
EVENT_TYPES: tuple[str, ...] = get_args(EventType)
MAX_WEBHOOKS = 100
_MOST_LISTED = 200

_OF_SPACE_ADMIN = sa.select(members.c.space_id).where(
    members.c.entity_id == sa.bindparam("who"), members.c.role == word("admin")
)
_OUTSIDE_AGENT = (
    sa.select(agents.c.id)
    .join(entities, entities.c.id == agents.c.id)
    .where(LIVING, IS_OUTSIDE, agents.c.id == sa.bindparam("agent"))
    .with_for_update(key_share=True, of=agents)
)
_HAS_WEBHOOK = sa.select(outgoing_webhooks.c.id).where(
    outgoing_webhooks.c.agent_id == sa.bindparam("agent"), outgoing_webhooks.c.disabled_at.is_(None)
)
_EVENT = sa.select(log.c.seq).where(log.c.topic == sa.bindparam("space"), log.c.seq == sa.bindparam("seq"))


class OutgoingWebhookJson(TypedDict):
    """`reason` says why it is disabled: it failed for a day, its receiver answered 410, or its creator may no longer
    read the events."""

    id: str
    url: str
    spaceId: str | None
    agentId: str | None
    events: list[str]
    creatorId: str
    failingSince: str | None
    disabledAt: str | None
    reason: Literal["failing", "gone", "creator_left"] | None
    createdAt: str


class NewOutgoingWebhookJson(OutgoingWebhookJson):
    """The secret is shown once."""

    secret: str


class WebhookDeliveryJson(TypedDict):
    """`id` is the header `webhook-id` of all its attempts; `error` says what went wrong last."""

    id: str
    type: str
    spaceId: str
    eventSeq: int
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    status: int | None
    error: str | None
    createdAt: str
    nextAttemptAt: str | None
    endedAt: str | None


def create_outgoing(
    tx: Tx,
    caller: Caller,
    cipher: Cipher,
    url: str,
    space_id: str | None,
    wanted: Sequence[EventType],
    agent_id: str | None = None,
) -> NewOutgoingWebhookJson:
    """Admins of a space, and members who administer the gateway, create webhooks for the space. The owner and admins
    create those for all their spaces and for outside agents."""
    require_may_create(tx, caller, space_id)
    _check_target(tx, space_id, wanted, agent_id)
    if tx.execute(sa.select(sa.func.count()).select_from(outgoing_webhooks)).scalar_one() >= MAX_WEBHOOKS:
        raise Invalid("too_many_webhooks", f"There are already {MAX_WEBHOOKS} outgoing webhooks. Remove one first.")
    secret = f"whsec_{base64.b64encode(os.urandom(32)).decode()}"
    webhook_id = ids.new("whk")
    row = {
        "id": webhook_id,
        "url": url,
        "space_id": space_id,
        "agent_id": agent_id,
        "events": list(dict.fromkeys(wanted)),
        "secret": cipher.seal(webhook_id, secret),
        "creator_id": caller.id,
        "created_at": tx.now,
    }
    tx.execute(outgoing_webhooks.insert(), row)
    if agent_id is None:
        _begin_here(tx, caller, webhook_id, space_id)
    target = {"spaceId": space_id} if agent_id is None else {"agentId": agent_id}
    record(tx, caller, "webhook.created", webhook_id, url=parse_target(url).authority, **target)
    return {**_json(_find(tx, caller, webhook_id)), "secret": secret}


def _check_target(tx: Tx, space_id: str | None, wanted: Sequence[str], agent_id: str | None) -> None:
    if agent_id is None:
        if not wanted:
            raise Invalid("no_events", "Name the types of events, or * for all.", {"path": "events"})
        return
    if space_id is not None or wanted:
        problem = "A webhook of an agent gets the events of its inbox. Leave out spaceId and events."
        raise Invalid("two_targets", problem, {"path": "agentId"})
    if tx.one(_OUTSIDE_AGENT, {"agent": agent_id}) is None:
        problem = f'No agent with the id {agent_id} and the mind "outside" exists.'
        raise NotFound("unknown_agent", problem, {"path": "agentId"})
    if tx.one(_HAS_WEBHOOK, {"agent": agent_id}) is not None:
        raise Conflict("has_webhook", "This agent already has a webhook. Delete it first.", {"path": "agentId"})


def _begin_here(tx: Tx, caller: Caller, webhook_id: str, space_id: str | None) -> None:
    """The first event to send is the next one of each space."""
    mine = (
        sa.select(spaces.c.id, spaces.c.event_seq)
        .join(members, members.c.space_id == spaces.c.id)
        .where(members.c.entity_id == caller.id, spaces.c.deleted_at.is_(None))
    )
    here = mine if space_id is None else mine.where(spaces.c.id == space_id)
    rows = [{"webhook_id": webhook_id, "space_id": row.id, "seq": row.event_seq} for row in tx.all(here)]
    if rows:
        tx.execute(webhook_cursors.insert(), rows)


def require_may_create(tx: Tx, caller: Caller, space_id: str | None) -> None:
    if space_id is None:
        require_administrator(caller)
    elif not caller.administers:
        access_space(tx, caller, space_id, "administer")
    else:
        # Admins of the gateway, too, get only the events of spaces that they may read.
        access_space(tx, caller, space_id)


def list_outgoing(tx: Tx, caller: Caller) -> list[OutgoingWebhookJson]:
    return [_json(row) for row in tx.all(_visible(caller).order_by(outgoing_webhooks.c.id), {"who": caller.id})]


def delete_outgoing(tx: Tx, caller: Caller, webhook_id: str) -> None:
    """Deletes the webhook with its queue and log."""
    _find(tx, caller, webhook_id)
    for table in (webhook_deliveries, webhook_cursors):
        tx.execute(table.delete().where(table.c.webhook_id == webhook_id))
    tx.execute(outgoing_webhooks.delete().where(outgoing_webhooks.c.id == webhook_id))
    record(tx, caller, "webhook.deleted", webhook_id)


def list_webhook_deliveries(
    tx: Tx, caller: Caller, webhook_id: str, limit: int = 50, before: str | None = None
) -> list[WebhookDeliveryJson]:
    """Newest first."""
    _find(tx, caller, webhook_id)
    mine = sa.select(webhook_deliveries).where(webhook_deliveries.c.webhook_id == webhook_id)
    older = mine if before is None else mine.where(webhook_deliveries.c.id < before)
    found = tx.all(older.order_by(webhook_deliveries.c.id.desc()).limit(min(limit, _MOST_LISTED)))
    return [_delivery_json(row) for row in found]


def retry_webhook_delivery(tx: Tx, caller: Caller, webhook_id: str, delivery_id: str) -> WebhookDeliveryJson:
    """Sends it again, with the same `webhook-id` and the event as it is now."""
    webhook = _find(tx, caller, webhook_id)
    which = webhook_deliveries.c.id == delivery_id, webhook_deliveries.c.webhook_id == webhook_id
    row = tx.one(sa.select(webhook_deliveries).where(*which).with_for_update())
    if row is None:
        raise NotFound("unknown_delivery", "This webhook has no delivery with this id.")
    if webhook.disabled_at is not None:
        raise Conflict("webhook_disabled", "This webhook is disabled. Create it again.")
    if tx.one(_EVENT, {"space": row.space_id, "seq": row.seq}) is None:
        raise Conflict("event_gone", "This event is no longer kept. See the setting events_kept_hours.")
    if row.state != "pending":
        again = {"state": "pending", "attempts": 0, "ended_at": None, "due_at": tx.now, "queued_at": tx.now}
        tx.execute(webhook_deliveries.update().where(*which).values(**again))
    return _delivery_json(tx.execute(sa.select(webhook_deliveries).where(*which)).one())


def _visible(caller: Caller) -> sa.Select[Any]:
    """Their own, and those of spaces that they administer; all for admins of the gateway."""
    mine = sa.or_(outgoing_webhooks.c.creator_id == caller.id, outgoing_webhooks.c.space_id.in_(_OF_SPACE_ADMIN))
    every = sa.select(outgoing_webhooks)
    return every if caller.administers else every.where(mine)


def _find(tx: Tx, caller: Caller, webhook_id: str) -> sa.Row[Any]:
    row = tx.one(_visible(caller).where(outgoing_webhooks.c.id == webhook_id), {"who": caller.id})
    if row is None:
        raise NotFound("unknown_webhook", "No outgoing webhook has this id.")
    return row


def check_url(url: str) -> str:
    """Where a webhook may point is checked once more before each attempt."""
    try:
        parse_target(url)
    except Invalid as error:
        problem = error.message.removeprefix("its URL ")
        raise Invalid("bad_url", f"url {problem}", {"path": "url"}) from None
    return url


def refused(error: Forbidden) -> Forbidden:
    """The error in words for people, because `reach` speaks to models."""
    return Forbidden(error.code, error.message.partition(" Ask the operator")[0] + " Ask the owner of this gateway.")


def _json(row: sa.Row[Any]) -> OutgoingWebhookJson:
    return {
        "id": row.id,
        "url": row.url,
        "spaceId": row.space_id,
        "agentId": row.agent_id,
        "events": row.events,
        "creatorId": row.creator_id,
        "failingSince": _iso(row.failing_since),
        "disabledAt": _iso(row.disabled_at),
        "reason": row.reason,
        "createdAt": iso(row.created_at),
    }


def _delivery_json(row: sa.Row[Any]) -> WebhookDeliveryJson:
    return {
        "id": row.id,
        "type": row.type,
        "spaceId": row.space_id,
        "eventSeq": row.seq,
        "state": row.state,
        "attempts": row.attempts,
        "status": row.status,
        "error": row.error,
        "createdAt": iso(row.created_at),
        "nextAttemptAt": iso(row.due_at) if row.state == "pending" else None,
        "endedAt": _iso(row.ended_at),
    }


def _iso(at: int | None) -> str | None:
    return iso(at) if at is not None else None
