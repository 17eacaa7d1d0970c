"""Events from services. The same event id is delivered once (P5)."""

from __future__ import annotations

from typing import cast

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config.plain_json import refuse_unsafe_json
from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING
from majlis.entities.names import name_key
from majlis.errors import Forbidden, Invalid, NotFound
from majlis.inbox.deliver import insert_delivery, new_delivery
from majlis.spaces.cause import begin_cause
from majlis.store import ids
from majlis.store.tables import agents, deliveries, entities
from majlis.store.transactions import Tx


class TriggeredJson(TypedDict):
    deliveryId: str
    duplicate: bool


def trigger_agent(
    tx: Tx, caller: Caller, agent_id: str, label: str | None, payload: object, event_id: str | None = None
) -> TriggeredJson:
    """For services that the agent accepts, and administrators. Event ids are scoped to the caller. `label` is shown
    beside the caller's name if it differs (G11)."""
    if caller.type != "service" and not caller.administers:
        raise Forbidden("not_allowed", "Only services, the owner and admins can trigger an agent.")
    _refuse_unsafe(payload)
    _require_accepted(tx, caller, agent_id)
    event_id = event_id or ids.new("evt")
    unique = f"service:{caller.id}:{event_id}"
    kept = {**_named(caller, label), "payload": payload, "eventId": event_id}
    if (first := _first_delivery(tx, agent_id, unique)) is not None:
        return {"deliveryId": first, "duplicate": True}
    row = new_delivery(tx, agent_id, "service", unique, kept, cause=begin_cause(tx, "service", caller.id))
    if insert_delivery(tx, row):
        return {"deliveryId": row["id"], "duplicate": False}
    return {"deliveryId": str(_first_delivery(tx, agent_id, unique)), "duplicate": True}


def _named(caller: Caller, label: str | None) -> dict[str, str]:
    """A service has its own name. An administrator who tries an agent out may use any."""
    if caller.type != "service":
        return {"serviceName": label or caller.name}
    return {"serviceName": caller.name, **({"serviceLabel": label} if label and label != caller.name else {})}


def _refuse_unsafe(payload: object) -> None:
    try:
        refuse_unsafe_json(payload)
    except Invalid as error:
        [problem] = cast(list[dict[str, str]], error.details["errors"])
        path = ".".join(filter(None, ("payload", problem["path"])))
        raise Invalid("invalid_payload", f"{path} {problem['message']}.", {"path": path}) from None


def _require_accepted(tx: Tx, caller: Caller, agent_id: str) -> None:
    found = sa.select(agents.c.config).join(entities, entities.c.id == agents.c.id)
    config = tx.execute(found.where(agents.c.id == agent_id, LIVING)).scalar_one_or_none()
    if config is None:
        raise NotFound("unknown_agent", f"No agent with the id {agent_id} exists.")
    accepted = config.get("acceptsServices", "any")
    if accepted == "any" or caller.administers or name_key(caller.name) in map(name_key, accepted):
        return
    raise Forbidden("not_accepted", "This agent does not accept events from you. Ask an admin to add your name.")


def _first_delivery(tx: Tx, agent_id: str, event_id: str) -> str | None:
    found = sa.select(deliveries.c.id).where(deliveries.c.agent_id == agent_id, deliveries.c.event_id == event_id)
    first: str | None = tx.execute(found).scalar_one_or_none()
    return first
