"""Creates, changes and deletes spaces."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.entities.names import space_name
from majlis.errors import Invalid
from majlis.live import log
from majlis.spaces.access import access_space, lock_space
from majlis.spaces.members import find_member, join, leave
from majlis.spaces.post import refuse_controls
from majlis.spaces.queries import space_json
from majlis.spaces.shapes import SpaceJson, Triggers, space_facts
from majlis.store import ids
from majlis.store.tables import members, spaces
from majlis.store.transactions import Tx


def create_space(
    tx: Tx,
    caller: Caller,
    name: str,
    description: str = "",
    triggers: Triggers = "everyone",
    orchestrator_id: str | None = None,
) -> SpaceJson:
    """The caller becomes its first member and admin. The orchestrator, if any, becomes a member."""
    _check_orchestrator(tx, triggers, orchestrator_id)
    space_id = ids.new("spc")
    values = {
        "id": space_id,
        "name": space_name(name),
        "description": refuse_controls(description, "description"),
        "triggers": triggers,
        "orchestrator_id": orchestrator_id,
        "event_at": tx.now,
        "created_at": tx.now,
    }
    tx.execute(spaces.insert(), values)
    join(tx, space_id, caller.id, "admin")
    if orchestrator_id is not None and orchestrator_id != caller.id:
        join(tx, space_id, orchestrator_id, "member")
    return space_json(tx, caller, space_id)


def change_space(tx: Tx, caller: Caller, space_id: str, changes: dict[str, Any]) -> SpaceJson:
    """`changes` may contain name, description, triggers, orchestrator_id and tool_policy."""
    space = lock_space(tx, caller, space_id, "administer")
    if "name" in changes:
        changes["name"] = space_name(changes["name"])
    refuse_controls(changes.get("description", ""), "description")
    orchestrator_id = changes.get("orchestrator_id", space.orchestrator_id)
    _check_orchestrator(tx, changes.get("triggers", space.triggers), orchestrator_id)
    if changes:
        tx.execute(spaces.update().where(spaces.c.id == space_id).values(changes))
        if orchestrator_id is not None and find_member(tx, space_id, orchestrator_id) is None:
            join(tx, space_id, orchestrator_id, "member")
        tell_space_updated(tx, caller, space_id)
    return space_json(tx, caller, space_id)


def delete_space(tx: Tx, caller: Caller, space_id: str) -> None:
    """All members leave, in the order of ids. The janitor deletes the rows later."""
    lock_space(tx, caller, space_id, "administer")
    everyone = sa.select(members.c.entity_id).where(members.c.space_id == space_id).order_by(members.c.entity_id)
    for row in tx.all(everyone):
        leave(tx, space_id, row.entity_id)
    tx.execute(spaces.update().where(spaces.c.id == space_id).values(deleted_at=tx.now))


def tell_space_updated(tx: Tx, caller: Caller, space_id: str, **more: Any) -> None:
    facts = space_facts(access_space(tx, caller, space_id))
    log.record_for_space(tx, space_id, "space.updated", {"spaceId": space_id, "space": facts, **more})


def _check_orchestrator(tx: Tx, triggers: Triggers, orchestrator_id: str | None) -> None:
    path = {"path": "orchestratorId"}
    if triggers == "orchestrated" and orchestrator_id is None:
        problem = "An orchestrated space needs orchestratorId: the agent that routes its messages."
        raise Invalid("orchestrator_missing", problem, path)
    if orchestrator_id is not None and access_entity(tx, orchestrator_id).type != "agent":
        raise Invalid("orchestrator_not_agent", "orchestratorId must be the id of an agent.", path)
