"""Creates, changes and deletes spaces."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.entities.names import space_name
from majlis.errors import Forbidden, Invalid
from majlis.live import log
from majlis.spaces.access import access_space, lock_any_space, lock_space
from majlis.spaces.addable import require_addable
from majlis.spaces.direct_rules import refuse_direct_changes
from majlis.spaces.members import find_member, join, leave
from majlis.spaces.post import refuse_controls
from majlis.spaces.queries import space_json
from majlis.spaces.shapes import SpaceJson, Triggers, space_facts
from majlis.spaces.summaries import drop_summaries
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
    _check_count(tx, caller)
    space_id = add_space(tx, caller, name, description, triggers, orchestrator_id)
    if orchestrator_id is not None and orchestrator_id != caller.id:
        require_addable(tx, caller, space_id, orchestrator_id)
        join(tx, space_id, orchestrator_id, "member")
    return space_json(tx, caller, space_id)


def add_space(
    tx: Tx,
    caller: Caller,
    name: str,
    description: str = "",
    triggers: Triggers = "everyone",
    orchestrator_id: str | None = None,
) -> str:
    """Does not check the caller's limit. The caller becomes its first member and admin."""
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
    return space_id


def change_space(tx: Tx, caller: Caller, space_id: str, changes: dict[str, Any]) -> SpaceJson:
    """`changes` may contain name, description, triggers, orchestrator_id, gather_millis, tool_policy,
    max_chain_depth and summaries."""
    space = lock_space(tx, caller, space_id, "administer")
    refuse_direct_changes(space, changes)
    if "name" in changes:
        changes["name"] = space_name(changes["name"])
    refuse_controls(changes.get("description", ""), "description")
    _check_depth(tx, changes.get("max_chain_depth"))
    orchestrator_id = changes.get("orchestrator_id", space.orchestrator_id)
    _check_orchestrator(tx, changes.get("triggers", space.triggers), orchestrator_id)
    if "summaries" in changes:
        changes["summaries"] = changes["summaries"] == "on"
        if not changes["summaries"]:
            changes["summarised_seq"] = 0
            drop_summaries(tx, space_id)
    if changes:
        tx.execute(spaces.update().where(spaces.c.id == space_id).values(changes))
        if orchestrator_id is not None and find_member(tx, space_id, orchestrator_id) is None:
            require_addable(tx, caller, space_id, orchestrator_id)
            join(tx, space_id, orchestrator_id, "member")
        if "tool_policy" in changes:
            record(tx, caller, "space.policy_changed", space_id)
        tell_space_updated(tx, caller, space_id)
    return space_json(tx, caller, space_id)


def delete_space(tx: Tx, caller: Caller, space_id: str) -> None:
    """All members leave, in the order of ids. The janitor deletes the rows later. Admins of the gateway can do this in
    every space, without reading it (G2)."""
    administer_space(tx, caller, space_id)
    everyone = sa.select(members.c.entity_id).where(members.c.space_id == space_id).order_by(members.c.entity_id)
    for row in tx.all(everyone):
        leave(tx, space_id, row.entity_id)
    tx.execute(spaces.update().where(spaces.c.id == space_id).values(deleted_at=tx.now, direct_key=None))
    record(tx, caller, "space.deleted", space_id)


def tell_space_updated(tx: Tx, caller: Caller, space_id: str, **more: Any) -> None:
    facts = space_facts(access_space(tx, caller, space_id))
    log.record_for_space(tx, space_id, "space.updated", {"spaceId": space_id, "space": facts, **more})


def _check_count(tx: Tx, caller: Caller) -> None:
    most = tx.hooks.max_spaces_per_member
    if caller.administers:
        return
    own = (
        sa.select(members.c.space_id)
        .join(spaces, spaces.c.id == members.c.space_id)
        .where(members.c.entity_id == caller.id, members.c.role == "admin", spaces.c.direct_key.is_(None))
    )
    if len(tx.all(own.limit(most))) >= most:
        problem = f"You administer {most} spaces, which is the limit. Delete some, or ask an admin of this gateway."
        raise Forbidden("too_many_spaces", problem)


def administer_space(tx: Tx, caller: Caller, space_id: str) -> None:
    """Locks the space. Also for admins of the gateway who are not members, and may not read it."""
    if caller.administers:
        lock_any_space(tx, space_id)
    else:
        lock_space(tx, caller, space_id, "administer")


def tell_all_space_updated(tx: Tx, space_id: str) -> None:
    """Like `tell_space_updated`, for a caller who may not be a member."""
    facts = space_facts(tx.execute(sa.select(spaces).where(spaces.c.id == space_id)).one())
    log.record_for_space(tx, space_id, "space.updated", {"spaceId": space_id, "space": facts})


def _check_depth(tx: Tx, limit: int | None) -> None:
    most = tx.hooks.max_chain_depth
    if limit is not None and limit > most:
        raise Invalid("too_deep", f"maxChainDepth must be at most the gateway's, {most}.", {"path": "maxChainDepth"})


def _check_orchestrator(tx: Tx, triggers: Triggers, orchestrator_id: str | None) -> None:
    path = {"path": "orchestratorId"}
    if triggers == "orchestrated" and orchestrator_id is None:
        problem = "An orchestrated space needs orchestratorId: the agent that routes its messages."
        raise Invalid("orchestrator_missing", problem, path)
    if orchestrator_id is not None and access_entity(tx, orchestrator_id).type != "agent":
        raise Invalid("orchestrator_not_agent", "orchestratorId must be the id of an agent.", path)
