"""Links that let people join a space: a new person chooses a name and is signed in (G15).

Only admins of the gateway create people, so only they invite, to spaces that they administer. An invite works no longer
than its creator's rights do.
"""

from __future__ import annotations

import secrets
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.audit.record import record
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.entities.entities import add_entity
from majlis.entities.sessions import open_session
from majlis.entities.tokens import Hasher
from majlis.errors import Forbidden, Invalid, NotFound, Unauthenticated
from majlis.spaces.access import access_space, lock_any_space
from majlis.spaces.members import find_member, join
from majlis.spaces.shapes import SpaceRole
from majlis.store import ids
from majlis.store.tables import entities, invites, members, spaces
from majlis.store.transactions import Tx

DEFAULT_MILLIS = 7 * 24 * 3600 * 1000
MAX_MILLIS = 365 * 24 * 3600 * 1000
MAX_USES = 1000

_CREATOR_MAY = sa.exists().where(
    entities.c.id == invites.c.created_by,
    entities.c.deleted_at.is_(None),
    entities.c.role.in_(("owner", "admin")),
    members.c.entity_id == entities.c.id,
    members.c.space_id == invites.c.space_id,
    members.c.role == "admin",
)


class InviteJson(TypedDict):
    id: str
    spaceId: str
    role: SpaceRole
    uses: int
    used: int
    createdAt: str
    expiresAt: str


class NewInviteJson(InviteJson):
    """The link is only in this response."""

    url: str


def create_invite(
    tx: Tx,
    caller: Caller,
    hasher: Hasher,
    space_id: str,
    role: SpaceRole = "member",
    expires_at: int | None = None,
    uses: int = 1,
) -> tuple[InviteJson, str]:
    """The invite and the code of its link."""
    _check_right(tx, caller, space_id)
    expires_at = tx.now + DEFAULT_MILLIS if expires_at is None else expires_at
    if not tx.now < expires_at <= tx.now + MAX_MILLIS:
        raise Invalid("expired", "expiresAt must be in the future, at most a year from now.", {"path": "expiresAt"})
    code = "mi_" + secrets.token_urlsafe(32)
    values = {
        "id": ids.new("inv"),
        "space_id": space_id,
        "created_by": caller.id,
        "hash": hasher.hash(code),
        "role": role,
        "uses": uses,
        "created_at": tx.now,
        "expires_at": expires_at,
    }
    invite = _json(tx.execute(invites.insert().returning(*invites.c), values).one())
    record(tx, caller, "invite.created", space_id, inviteId=invite["id"], role=role, uses=uses)
    return invite, code


def list_invites(tx: Tx, caller: Caller, space_id: str) -> list[InviteJson]:
    """The invites that still work, newest first."""
    _check_right(tx, caller, space_id)
    working = sa.select(invites).where(invites.c.space_id == space_id, *_works(tx)).order_by(invites.c.id.desc())
    return [_json(row) for row in tx.all(working)]


def end_invite(tx: Tx, caller: Caller, space_id: str, invite_id: str) -> None:
    _check_right(tx, caller, space_id)
    which = invites.c.id == invite_id, invites.c.space_id == space_id, invites.c.ended_at.is_(None)
    if tx.execute(invites.update().where(*which).values(ended_at=tx.now)).rowcount == 0:
        raise NotFound("unknown_invite", f"There is no invite {invite_id} to this space, or it has already ended.")
    record(tx, caller, "invite.ended", space_id, inviteId=invite_id)


def find_invite(tx: Tx, hasher: Hasher, code: str) -> sa.Row[Any] | None:
    """The invite with the names of its space and creator. Does not use it up."""
    found = (
        sa.select(*invites.c, spaces.c.name.label("space_name"), entities.c.name.label("creator_name"))
        .join(spaces, spaces.c.id == invites.c.space_id)
        .join(entities, entities.c.id == invites.c.created_by)
        .where(invites.c.hash == hasher.hash(code), spaces.c.deleted_at.is_(None), *_works(tx))
    )
    return tx.one(found)


def join_as_new_person(tx: Tx, hasher: Hasher, code: str, name: str) -> tuple[str, str]:
    """Creates the person. Returns the id of the space and the secret of a session."""
    invite = _use(tx, hasher, code)
    made = add_entity(tx, "human", name)
    person = Caller(made["id"], made["name"], "human", "member", token_id="")
    record(tx, person, "entity.created", person.id, name=person.name, type="human", role="member", by="invite")
    join(tx, invite.space_id, person.id, invite.role)
    record(tx, person, "invite.used", invite.space_id, inviteId=invite.id)
    return invite.space_id, open_session(tx, hasher, person, "invite")


def join_as_caller(tx: Tx, caller: Caller, hasher: Hasher, code: str) -> str:
    """Returns the id of the space. A member keeps the role that it has, and uses nothing up."""
    if caller.type != "human":
        raise Forbidden("not_allowed", "Only people can use an invite.")
    invite = find_invite(tx, hasher, code)
    if invite is not None and find_member(tx, invite.space_id, caller.id) is not None:
        return str(invite.space_id)
    invite = _use(tx, hasher, code)
    join(tx, invite.space_id, caller.id, invite.role)
    record(tx, caller, "invite.used", invite.space_id, inviteId=invite.id)
    return str(invite.space_id)


def _use(tx: Tx, hasher: Hasher, code: str) -> sa.Row[Any]:
    """Counts one use, under the space's lock, which comes first in the order of locks."""
    found = find_invite(tx, hasher, code)
    if found is not None:
        lock_any_space(tx, found.space_id)
        # If several requests take the last use, the condition lets one through.
        counted = invites.update().where(invites.c.id == found.id, *_works(tx)).values(used=invites.c.used + 1)
        if tx.execute(counted).rowcount == 1:
            return found
    raise Unauthenticated("invalid_invite", "This invite has expired, was used up or was canceled. Ask for a new one.")


def _works(tx: Tx) -> tuple[sa.ColumnElement[bool], ...]:
    return invites.c.ended_at.is_(None), invites.c.expires_at > tx.now, invites.c.used < invites.c.uses, _CREATOR_MAY


def _check_right(tx: Tx, caller: Caller, space_id: str) -> None:
    access_space(tx, caller, space_id, "administer")
    require_administrator(caller)


def _json(row: sa.Row[Any]) -> InviteJson:
    return {
        "id": row.id,
        "spaceId": row.space_id,
        "role": row.role,
        "uses": row.uses,
        "used": row.used,
        "createdAt": iso(row.created_at),
        "expiresAt": iso(row.expires_at),
    }
