"""The only ways to a space or a message that belongs to one: membership is looked up at the moment of use (A7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Forbidden, NotFound
from majlis.spaces.shapes import SpaceRole
from majlis.store.tables import members, messages, spaces
from majlis.store.transactions import Tx

Need = Literal["read", "write", "administer"]

_SPACE = (
    sa.select(*spaces.c, members.c.role, members.c.seen_seq)
    .join(members, members.c.space_id == spaces.c.id)
    .where(
        spaces.c.id == sa.bindparam("space_id"),
        spaces.c.deleted_at.is_(None),
        members.c.entity_id == sa.bindparam("entity_id"),
    )
)
_SPACE_WITH_CURSOR = _SPACE.add_columns(messages.c.seq.label("cursor_seq")).outerjoin(
    messages, sa.and_(messages.c.id == sa.bindparam("cursor"), messages.c.space_id == spaces.c.id)
)


def access_space(tx: Tx, caller: Caller, space_id: str, need: Need = "read") -> sa.Row[Any]:
    """The space with the caller's own `role` and `seen_seq` in it."""
    row = tx.one(_SPACE, {"space_id": space_id, "entity_id": caller.id})
    return _allowed(row, space_id, need)


def access_space_at(tx: Tx, caller: Caller, space_id: str, cursor: str | None) -> sa.Row[Any]:
    """As `access_space`, with `cursor_seq`: the number of the message `cursor` if it is one of this space's."""
    parameters = {"space_id": space_id, "entity_id": caller.id, "cursor": cursor}
    return _allowed(tx.one(_SPACE_WITH_CURSOR, parameters), space_id, "read")


def lock_space(tx: Tx, caller: Caller, space_id: str, need: Need) -> sa.Row[Any]:
    """As `access_space`, holding the space's lock: nobody joins, leaves or posts until this transaction ends."""
    tx.execute(sa.select(spaces.c.id).where(spaces.c.id == space_id).with_for_update())
    return access_space(tx, caller, space_id, need)


def lock_spaces(tx: Tx, space_ids: Iterable[str | None]) -> None:
    """In one order, so that two who need the same ones cannot block each other."""
    wanted = set(space_ids) - {None}
    if wanted:
        tx.execute(sa.select(spaces.c.id).where(spaces.c.id.in_(wanted)).order_by(spaces.c.id).with_for_update())


def require(role: SpaceRole, need: Need) -> None:
    if need == "administer" and role != "admin":
        raise Forbidden("not_space_admin", "Only an admin of this space may do this.")
    if need == "write" and role == "viewer":
        raise Forbidden("viewer", "You are a viewer in this space: you may read, not write.")


def unknown_space(space_id: str) -> NotFound:
    return NotFound("unknown_space", f"There is no space {space_id} that you are a member of.")


def _allowed(row: sa.Row[Any] | None, space_id: str, need: Need) -> sa.Row[Any]:
    if row is None:
        raise unknown_space(space_id)
    require(row.role, need)
    return row
