"""Incoming webhooks: each is a service with an address of its own, which posts into a space or triggers an agent (D4).

A delivery is posted once: its id is the client id of the message or the event id of the trigger.
"""

from __future__ import annotations

import re
import secrets as random
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.entities.change import delete_entity
from majlis.entities.entities import LIVING, create_entity
from majlis.errors import Invalid, NotFound
from majlis.inbox.deliver import post_message
from majlis.inbox.services import trigger_agent
from majlis.spaces.members import add_member, find_member
from majlis.spaces.post import Draft
from majlis.store import ids
from majlis.store.tables import agents, entities, incoming_webhooks
from majlis.store.transactions import Tx
from majlis.webhooks.template import check_template, render
from majlis.webhooks.verify import Scheme, delivery_id

MAX_WEBHOOKS = 500
# PostgreSQL refuses some other texts as parameters.
_ADDRESS = re.compile(r"[A-Za-z0-9_-]+")

_ALL = (
    sa.select(incoming_webhooks, entities.c.name)
    .join(entities, entities.c.id == incoming_webhooks.c.entity_id)
    .where(LIVING)
    .order_by(incoming_webhooks.c.id)
)


class VerifyJson(TypedDict):
    scheme: Scheme
    secret: str | None


class IncomingWebhookJson(TypedDict):
    id: str
    url: str
    name: str
    entityId: str
    spaceId: str | None
    agentId: str | None
    verify: VerifyJson
    template: str | None
    createdAt: str


class ReceivedJson(TypedDict):
    posted: bool
    duplicate: bool


def create_incoming(
    tx: Tx,
    caller: Caller,
    base_url: str,
    name: str,
    space_id: str | None,
    agent_id: str | None,
    scheme: Scheme,
    secret: str | None,
    template: str | None,
) -> IncomingWebhookJson:
    require_administrator(caller)
    if space_id is None and agent_id is None:
        raise Invalid("no_target", "Name a space (spaceId), an agent (agentId) or both.", {"path": "spaceId"})
    if template is not None:
        check_template(template)
    if tx.execute(sa.select(sa.func.count()).select_from(incoming_webhooks)).scalar_one() >= MAX_WEBHOOKS:
        raise Invalid("too_many_webhooks", f"There are already {MAX_WEBHOOKS} incoming webhooks. Remove one first.")
    if agent_id is not None and tx.one(_agent(agent_id)) is None:
        raise NotFound("unknown_agent", f"No agent with the id {agent_id} exists.", {"path": "agentId"})
    entity_id = create_entity(tx, caller, "service", name)["id"]
    if space_id is not None:
        add_member(tx, caller, space_id, entity_id)
        if agent_id is not None and find_member(tx, space_id, agent_id) is None:
            problem = "The agent is not a member of the space. Add it first, or leave out agentId or spaceId."
            raise Invalid("not_a_member", problem, {"path": "agentId"})
    row = {
        "id": ids.new("whk"),
        "address": random.token_urlsafe(24),
        "entity_id": entity_id,
        "space_id": space_id,
        "agent_id": agent_id,
        "scheme": scheme,
        "secret": secret,
        "template": template,
        "created_at": tx.now,
    }
    tx.execute(incoming_webhooks.insert(), row)
    return _json(tx.execute(_ALL.where(incoming_webhooks.c.id == row["id"])).one(), base_url)


def list_incoming(tx: Tx, caller: Caller, base_url: str) -> list[IncomingWebhookJson]:
    require_administrator(caller)
    return [_json(row, base_url) for row in tx.all(_ALL)]


def delete_incoming(tx: Tx, caller: Caller, webhook_id: str) -> None:
    """Deletes the webhook and its service. Its messages stay."""
    require_administrator(caller)
    found = tx.one(_ALL.where(incoming_webhooks.c.id == webhook_id))
    if found is None:
        raise NotFound("unknown_webhook", "No incoming webhook has this id.")
    tx.execute(incoming_webhooks.delete().where(incoming_webhooks.c.id == webhook_id))
    delete_entity(tx, caller, found.entity_id)


def find_incoming(tx: Tx, address: str) -> sa.Row[Any]:
    looks_right = _ADDRESS.fullmatch(address) is not None
    found = tx.one(_ALL.where(incoming_webhooks.c.address == address)) if looks_right else None
    if found is None:
        raise NotFound("unknown_webhook", "No webhook has this address.")
    return found


def receive(tx: Tx, address: str, payload: Any, headers: Mapping[str, str]) -> ReceivedJson:
    """Posts what a verified request says. Raises `Repeated` for a delivery that is posted already."""
    hook = find_incoming(tx, address)
    service = Caller(hook.entity_id, hook.name, "service", "member", token_id="")
    text = render(hook.template, payload, headers)
    sent = delivery_id(hook.scheme, headers, payload)
    unique = f"hook:{blake2b(sent.encode('utf-8', 'replace'), digest_size=20).hexdigest()}" if sent else None
    if hook.space_id is None:
        given = payload if hook.template is None else text
        made = trigger_agent(tx, service, hook.agent_id, None, given, unique)
        return {"posted": True, "duplicate": made["duplicate"]}
    if not text:
        return {"posted": False, "duplicate": False}
    called = hook.agent_id is not None and find_member(tx, hook.space_id, hook.agent_id) is not None
    post_message(tx, service, hook.space_id, Draft(text, unique, mentions=[hook.agent_id] if called else []))
    return {"posted": True, "duplicate": False}


def _agent(agent_id: str) -> sa.Select[Any]:
    return sa.select(agents.c.id).join(entities, entities.c.id == agents.c.id).where(LIVING, agents.c.id == agent_id)


def _json(row: sa.Row[Any], base_url: str) -> IncomingWebhookJson:
    return {
        "id": row.id,
        "url": f"{base_url}/hooks/{row.address}",
        "name": row.name,
        "entityId": row.entity_id,
        "spaceId": row.space_id,
        "agentId": row.agent_id,
        "verify": {"scheme": row.scheme, "secret": f"secret:{row.secret}" if row.secret else None},
        "template": row.template,
        "createdAt": iso(row.created_at),
    }
