"""Events from services. The same event id is delivered once (P5)."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config.plain_json import refuse_unsafe_json
from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING
from majlis.errors import Forbidden, Invalid, NotFound
from majlis.inbox.deliver import insert_delivery, new_delivery
from majlis.store import ids
from majlis.store.tables import deliveries, entities
from majlis.store.transactions import Tx


class TriggeredJson(TypedDict):
    deliveryId: str
    duplicate: bool


def trigger_agent(
    tx: Tx, caller: Caller, agent_id: str, service_name: str, payload: object, event_id: str | None = None
) -> TriggeredJson:
    """For services and administrators. Event ids are scoped to the caller."""
    if caller.type != "service" and not caller.administers:
        raise Forbidden("not_allowed", "Only services, the owner and administrators may trigger an agent.")
    _refuse_unsafe(payload)
    _require_agent(tx, agent_id)
    event_id = event_id or ids.new("evt")
    unique = f"service:{caller.id}:{event_id}"
    kept = {"serviceName": service_name, "payload": payload, "eventId": event_id}
    row = new_delivery(tx, agent_id, "service", unique, kept)
    if insert_delivery(tx, row):
        return {"deliveryId": row["id"], "duplicate": False}
    return {"deliveryId": _first_delivery(tx, agent_id, unique), "duplicate": True}


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
        raise NotFound("unknown_agent", f"No agent with the id {agent_id} exists.")


def _first_delivery(tx: Tx, agent_id: str, event_id: str) -> str:
    found = sa.select(deliveries.c.id).where(deliveries.c.agent_id == agent_id, deliveries.c.event_id == event_id)
    first: str = tx.execute(found).scalar_one()
    return first
