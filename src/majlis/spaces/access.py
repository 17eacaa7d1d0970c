"""Access to spaces: membership is checked at the moment of use (A7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Forbidden, NotFound
from majlis.spaces.shapes import SpaceRole
from majlis.store.hot import hot
from majlis.store.tables import members, messages, spaces
from majlis.store.transactions import Tx

Need = Literal["read", "write", "administer"]

_SPACE = hot(
    sa.select(*spaces.c, members.c.role, members.c.seen_seq)
    .join(members, members.c.space_id == spaces.c.id)
    .where(
        spaces.c.id == sa.bindparam("space_id"),
        spaces.c.deleted_at.is_(None),
        members.c.entity_id == sa.bindparam("entity_id"),
    )
)
_SPACE_WITH_CURSOR = hot(
    _SPACE.add_columns(messages.c.seq.label("cursor_seq")).outerjoin(
        messages, sa.and_(messages.c.id == sa.bindparam("cursor"), messages.c.space_id == spaces.c.id)
    )
)


def access_space(tx: Tx, caller: Caller, space_id: str, need: Need = "read") -> sa.Row[Any]:
    """The space, with the caller's `role` and `seen_seq` in it."""
    return _allowed(tx.one(_SPACE, {"space_id": space_id, "entity_id": caller.id}), space_id, need)


def access_space_at(tx: Tx, caller: Caller, space_id: str, cursor: str | None) -> sa.Row[Any]:
    """Like `access_space`, with `cursor_seq`: the number of the message `cursor` if it is in this space."""
    parameters = {"space_id": space_id, "entity_id": caller.id, "cursor": cursor}
    return _allowed(tx.one(_SPACE_WITH_CURSOR, parameters), space_id, "read")


def lock_space(tx: Tx, caller: Caller, space_id: str, need: Need) -> sa.Row[Any]:
    """Like `access_space`, with the space's lock: members and messages do not change until this transaction ends."""
    tx.execute(sa.select(spaces.c.id).where(spaces.c.id == space_id).with_for_update())
    return access_space(tx, caller, space_id, need)


def lock_any_space(tx: Tx, space_id: str) -> sa.Row[Any]:
    """Does not check membership: for admins of the gateway, who may not read the space."""
    found = sa.select(spaces).where(spaces.c.id == space_id, spaces.c.deleted_at.is_(None)).with_for_update()
    row = tx.one(found)
    if row is None:
        raise unknown_space(space_id)
    return row


def lock_spaces(tx: Tx, space_ids: Iterable[str | None]) -> None:
    """Locks them in the order of ids, to avoid deadlocks."""
    wanted = set(space_ids) - {None}
    if wanted:
        tx.execute(sa.select(spaces.c.id).where(spaces.c.id.in_(wanted)).order_by(spaces.c.id).with_for_update())


def require(role: SpaceRole, need: Need) -> None:
    if need == "administer" and role != "admin":
        raise Forbidden("not_space_admin", "Only an admin of this space can do this.")
    if need == "write" and role == "viewer":
        raise Forbidden("viewer", "You are a viewer in this space. Ask an admin for the right to write.")


def unknown_space(space_id: str) -> NotFound:
    message = f"You don't have access to the space {space_id}. Check the id, or ask one of its admins to add you."
    return NotFound("unknown_space", message)


def _allowed(row: sa.Row[Any] | None, space_id: str, need: Need) -> sa.Row[Any]:
    if row is None:
        raise unknown_space(space_id)
    require(row.role, need)
    return row
