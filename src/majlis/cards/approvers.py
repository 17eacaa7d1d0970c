"""Decides who may approve a call (G5). The person who asked for it may not, unless they administer the gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Forbidden
from majlis.store.tables import entities, members, runs
from majlis.store.transactions import Tx

_PEOPLE = (
    sa.select(entities.c.id, entities.c.role.label("gateway_role"), members.c.role.label("space_role"))
    .join(members, members.c.entity_id == entities.c.id)
    .where(members.c.space_id == sa.bindparam("space"), entities.c.type == "human", entities.c.deleted_at.is_(None))
)
_ROLE = sa.select(members.c.role).where(
    members.c.space_id == sa.bindparam("space"), members.c.entity_id == sa.bindparam("who")
)
_PERSON = sa.select(runs.c.person_id).where(runs.c.id == sa.bindparam("run"))
_WORDS = {"admins": "an admin of this gateway", "space-admins": "an admin of this space", "members": "another member"}

Approval = dict[str, Any]
"""`{approvers, requesterMayApprove}` of a rule. A call under several rules needs a person who fits all of them."""


class Candidate(NamedTuple):
    id: str
    gateway_role: str
    space_role: str | None

    @property
    def administers(self) -> bool:
        return self.gateway_role in ("owner", "admin")


def nobody_here(tx: Tx, space_id: str, person_id: str | None, approvals: Sequence[Approval]) -> bool:
    """True if no person in the space may approve: then the admins of the gateway are asked."""
    people = (Candidate(row.id, row.gateway_role, row.space_role) for row in tx.all(_PEOPLE, {"space": space_id}))
    return not any(_may_approve(each, person_id, approvals) for each in people)


def require_approver(tx: Tx, caller: Caller, card: sa.Row[Any]) -> None:
    """Raises Forbidden, with the people to ask."""
    if card.approvals is None or (card.to_admins and caller.administers):
        return
    person_id = tx.execute(_PERSON, {"run": card.run_id}).scalar_one()
    role = tx.execute(_ROLE, {"space": card.space_id, "who": caller.id}).scalar_one_or_none()
    if approves(caller, card, role, person_id):
        return
    ask = f"Ask {_described(card)} to decide."
    if caller.id == person_id:
        raise Forbidden("own_request", f"You asked for this call, so you cannot approve it yourself. {ask}")
    raise Forbidden("not_an_approver", f"You cannot approve this call. {ask}")


def approves(caller: Caller, card: sa.Row[Any], role: str | None, person_id: str | None) -> bool:
    """`role` is the caller's in the card's space, `person_id` the person whom the run works for."""
    if card.approvals is None or (card.to_admins and caller.administers):
        return True
    return _may_approve(Candidate(caller.id, caller.role, role), person_id, card.approvals)


def _may_approve(each: Candidate, person_id: str | None, approvals: Sequence[Approval]) -> bool:
    return all(_fits(each, each.id == person_id, rule) for rule in approvals)


def _fits(each: Candidate, asked_for_it: bool, rule: Approval) -> bool:
    if asked_for_it and not each.administers:
        return bool(rule["requesterMayApprove"]) and each.space_role in ("admin", "member")
    names = rule["approvers"]
    roles = {
        "admins": each.administers,
        "space-admins": each.space_role == "admin",
        "members": each.space_role in ("admin", "member"),
    }
    return each.id in names or any(roles.get(name, False) for name in names)


def _described(card: sa.Row[Any]) -> str:
    if card.to_admins:
        return _WORDS["admins"]
    names = [name for rule in card.approvals for name in rule["approvers"]]
    return " or ".join(dict.fromkeys(_WORDS.get(name, "a person whom the policy names") for name in names))
