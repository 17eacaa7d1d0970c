"""Adds and removes members. Both hold the space's lock, so that no message is posted between check and change."""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.entities.shapes import PICTURE
from majlis.errors import Conflict, Forbidden, NotFound
from majlis.live import log
from majlis.live.log import Signal
from majlis.spaces.access import access_space, lock_any_space, lock_space
from majlis.spaces.acts_for import ACTS_FOR
from majlis.spaces.addable import require_addable
from majlis.spaces.direct_rules import refuse_direct
from majlis.spaces.shapes import MemberJson, SpaceRole, member_json
from majlis.store.hot import hot
from majlis.store.tables import agents, entities, members, spaces
from majlis.store.transactions import Tx

LEFT = "members.left"

SELECT_MEMBERS = sa.select(*members.c, entities.c.name, entities.c.type, PICTURE).join(
    entities, entities.c.id == members.c.entity_id
)
# With facts about agents that change without an event about the member.
_LISTED = SELECT_MEMBERS.add_columns(agents.c.paused_at, ACTS_FOR.label("acts_for")).outerjoin(
    agents, agents.c.id == members.c.entity_id
)

_MEMBER = hot(
    SELECT_MEMBERS.where(members.c.space_id == sa.bindparam("space"), members.c.entity_id == sa.bindparam("entity"))
)
_ADMIN = (
    sa.select(members.c.entity_id)
    .where(members.c.space_id == sa.bindparam("space"), members.c.role == "admin")
    .limit(1)
)
_HEIR = (
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.space_id == sa.bindparam("space"))
    .order_by(
        sa.case({"human": 0, "service": 1}, value=entities.c.type, else_=2),
        sa.case({"viewer": 1}, value=members.c.role, else_=0),
        members.c.joined_at,
        members.c.entity_id,
    )
    .limit(1)
)


def list_members(tx: Tx, caller: Caller, space_id: str) -> list[MemberJson]:
    access_space(tx, caller, space_id)
    statement = _LISTED.where(members.c.space_id == space_id)
    return [_listed(row) for row in tx.all(statement.order_by(members.c.joined_at, members.c.entity_id))]


def _listed(row: sa.Row[Any]) -> MemberJson:
    member = member_json(row)
    return member if row.acts_for is None else {**member, "paused": row.paused_at is not None, "actsFor": row.acts_for}


def add_member(
    tx: Tx, caller: Caller, space_id: str, entity_id: str, role: SpaceRole | None = None
) -> tuple[MemberJson, bool]:
    """The member, and whether it is new. Adding a member again with another role changes its role."""
    refuse_direct(lock_space(tx, caller, space_id, "administer"))
    current = find_member(tx, space_id, entity_id)
    if current is None:
        require_addable(tx, caller, space_id, entity_id)
        return join(tx, space_id, entity_id, role or "member"), True
    if role is not None and role != current.role:
        if role != "admin":
            _keep_an_admin(tx, current)
        return _set_role(tx, space_id, entity_id, role), False
    return member_json(current), False


def join(tx: Tx, space_id: str, entity_id: str, role: SpaceRole) -> MemberJson:
    """Call it under the space's lock. Earlier messages do not count as unread."""
    access_entity(tx, entity_id, lock=True)
    head = sa.select(spaces.c.head_seq).where(spaces.c.id == space_id).scalar_subquery()
    values = {"space_id": space_id, "entity_id": entity_id, "role": role, "seen_seq": head, "joined_at": tx.now}
    tx.execute(members.insert().values(values))
    member = get_member(tx, space_id, entity_id)
    _tell(tx, "space.member.joined", space_id, entity_id, {"member": member})
    return member


def remove_member(tx: Tx, caller: Caller, space_id: str, entity_id: str) -> None:
    """Admins of the gateway can remove agents from every space (G2)."""
    member = find_member(tx, space_id, entity_id)
    as_gateway_admin = caller.administers and member is not None and member.type == "agent"
    space = lock_any_space(tx, space_id) if as_gateway_admin else lock_space(tx, caller, space_id, "read")
    if caller.id != entity_id and not as_gateway_admin and space.role != "admin":
        raise Forbidden("not_space_admin", "Only an admin of this space can remove other members.")
    refuse_direct(space)
    member = find_member(tx, space_id, entity_id)
    if member is None:
        raise NotFound("not_a_member", f"{entity_id} is not a member of this space.")
    if space.orchestrator_id == entity_id:
        raise Conflict("orchestrator", "This agent orchestrates the space. Choose another orchestrator first.")
    depart(tx, space_id, entity_id)
    if as_gateway_admin:
        record(tx, caller, "space.agent_removed", space_id, agentId=entity_id)


def depart(tx: Tx, space_id: str, entity_id: str) -> None:
    """Leaves a space that stays. If its last admin leaves, another member becomes admin: people before services before
    agents."""
    leave(tx, space_id, entity_id)
    if tx.one(_ADMIN, {"space": space_id}) is None and (heir := tx.one(_HEIR, {"space": space_id})) is not None:
        _set_role(tx, space_id, heir.entity_id, "admin")


def leave(tx: Tx, space_id: str, entity_id: str) -> None:
    """Does not check rights."""
    # The event first: it takes the space's lock, so that no message is posted meanwhile.
    _tell(tx, "space.member.left", space_id, entity_id, {})
    # Workers stop what an agent is streaming to the space (A7).
    tx.outbox.append(Signal(LEFT, orjson.dumps({"spaceId": space_id, "entityId": entity_id})))
    tx.execute(members.delete().where(members.c.space_id == space_id, members.c.entity_id == entity_id))
    _run_hooks(tx, space_id, entity_id)


def find_member(tx: Tx, space_id: str, entity_id: str) -> sa.Row[Any] | None:
    return tx.one(_MEMBER, {"space": space_id, "entity": entity_id})


def tell_member_changed(tx: Tx, space_id: str, entity_id: str) -> MemberJson:
    member = get_member(tx, space_id, entity_id)
    log.record_for_space(tx, space_id, "space.member.updated", {"spaceId": space_id, "member": member})
    return member


def get_member(tx: Tx, space_id: str, entity_id: str) -> MemberJson:
    found = find_member(tx, space_id, entity_id)
    assert found is not None
    return member_json(found)


def _set_role(tx: Tx, space_id: str, entity_id: str, role: SpaceRole) -> MemberJson:
    tx.execute(
        members.update().where(members.c.space_id == space_id, members.c.entity_id == entity_id).values(role=role)
    )
    member = tell_member_changed(tx, space_id, entity_id)
    if role == "viewer":
        _run_hooks(tx, space_id, entity_id)
    return member


def _run_hooks(tx: Tx, space_id: str, entity_id: str) -> None:
    for hook in tx.hooks.left:
        hook(tx, space_id, entity_id)


def _keep_an_admin(tx: Tx, member: sa.Row[Any]) -> None:
    statement = sa.select(members.c.role).where(
        members.c.space_id == member.space_id, members.c.entity_id != member.entity_id
    )
    others = {row.role for row in tx.all(statement.distinct())}
    if member.role == "admin" and others and "admin" not in others:
        raise Conflict("last_admin", "This is the last admin of the space. Make another member an admin first.")


def _tell(tx: Tx, type: str, space_id: str, entity_id: str, data: dict[str, Any]) -> None:
    """Also tells the entity itself: its stream over all spaces starts or stops following this one."""
    data = {"spaceId": space_id, "entityId": entity_id, **data}
    seq = log.record_for_space(tx, space_id, type, data)
    log.record_for_entity(tx, entity_id, type, {**data, "eventSeq": seq})
