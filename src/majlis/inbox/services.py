"""Events from outside: a service tells an agent something. Told twice, it is owed once (P5)."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config.plain_json import refuse_unsafe_json
from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING
from majlis.errors import Forbidden, Invalid, NotFound
from majlis.inbox.deliveries import INSERT_DELIVERY
from majlis.inbox.wake import WorkAvailable
from majlis.store import ids
from majlis.store.tables import deliveries, entities
from majlis.store.transactions import Tx


class TriggeredJson(TypedDict):
    deliveryId: str
    duplicate: bool


def trigger_agent(
    tx: Tx, caller: Caller, agent_id: str, service_name: str, payload: object, event_id: str | None = None
) -> TriggeredJson:
    """For services and administrators. Each caller's event ids are its own: none can stand in another's way."""
    if caller.type != "service" and not caller.administers:
        raise Forbidden("not_allowed", "Only services, and the owner and administrators, may trigger an agent.")
    _refuse_unsafe(payload)
    _require_agent(tx, agent_id)
    told = event_id or ids.new("evt")
    values = {
        "id": ids.new("dlv"),
        "agent_id": agent_id,
        "event_id": f"service:{caller.id}:{told}",
        "type": "service",
        "payload": {"serviceName": service_name, "payload": payload, "eventId": told},
        "created_at": tx.now,
    }
    if tx.execute(INSERT_DELIVERY[tx.dialect], values).rowcount == 0:
        return {"deliveryId": _first_delivery(tx, agent_id, str(values["event_id"])), "duplicate": True}
    tx.outbox.append(WorkAvailable())
    return {"deliveryId": str(values["id"]), "duplicate": False}


def _refuse_unsafe(payload: object) -> None:
    try:
        refuse_unsafe_json(payload)
    except Invalid as error:
        [problem] = cast(list[dict[str, str]], error.details["errors"])
        path = ".".join(filter(None, ("payload", problem["path"])))
        raise Invalid("invalid_payload", f"{path} {problem['message']}.", {"path": path}) from None


def _require_agent(tx: Tx, agent_id: str) -> None:
    found = sa.select(entities.c.id).where(entities.c.id == agent_id, entities.c.type == "agent", LIVING)
    if tx.one(found) is None:
        raise NotFound("unknown_agent", f"There is no agent {agent_id}.")


def _first_delivery(tx: Tx, agent_id: str, event_id: str) -> str:
    found = sa.select(deliveries.c.id).where(deliveries.c.agent_id == agent_id, deliveries.c.event_id == event_id)
    first: str = tx.execute(found).scalar_one()
    return first
