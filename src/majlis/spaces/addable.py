"""Limits who may bring whom into a space: agents by their setting `addableBy`, people unless they blocked the caller,
and at most twenty spaces a day (G2)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity
from majlis.errors import Forbidden, TooMany
from majlis.store.tables import additions, agents, blocks
from majlis.store.transactions import Tx

SPACES_A_DAY = 20
DAY_MILLIS = 86_400_000


def require_addable(tx: Tx, caller: Caller, space_id: str, entity_id: str) -> None:
    """Call it under the space's lock."""
    if entity_id == caller.id:
        return
    entity = access_entity(tx, entity_id)
    if entity.type == "agent":
        _require_for_agent(tx, caller, entity)
    elif entity.type == "human":
        _require_not_blocked(tx, caller, entity)
        if not caller.administers:
            _count(tx, caller, space_id)


def _require_for_agent(tx: Tx, caller: Caller, agent: sa.Row[Any]) -> None:
    config = tx.execute(sa.select(agents.c.config).where(agents.c.id == agent.id)).scalar_one()
    if may_add_agent(caller, config):
        return
    raise Forbidden(
        "not_addable", f"You cannot add {agent.name} to a space. Ask an admin of this gateway.", {"path": "entityId"}
    )


def may_add_agent(caller: Caller, config: dict[str, Any]) -> bool:
    allowed = config.get("addableBy") or _derived(config)
    return caller.administers or allowed == "anyone" or (isinstance(allowed, list) and caller.id in allowed)


def _derived(config: dict[str, Any]) -> str:
    """An agent that acts for itself may carry what it knows into every space."""
    own_rights = config.get("actsFor") == "itself" or config.get("mind") in ("consciousness", "outside")
    return "admins" if own_rights else "anyone"


def _require_not_blocked(tx: Tx, caller: Caller, person: sa.Row[Any]) -> None:
    blocked = sa.select(blocks.c.entity_id).where(blocks.c.entity_id == person.id, blocks.c.blocked_id == caller.id)
    if tx.one(blocked) is not None:
        raise Forbidden("blocked", f"{person.name} does not want to be added to spaces by you.", {"path": "entityId"})


def _count(tx: Tx, caller: Caller, space_id: str) -> None:
    # Locked, so that two additions at the same time do not both take the last place.
    access_entity(tx, caller.id, lock=True)
    day = tx.now // DAY_MILLIS
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(additions)
    tx.execute(insert.on_conflict_do_nothing(), {"entity_id": caller.id, "day": day, "space_id": space_id})
    mine = sa.select(sa.func.count()).where(additions.c.entity_id == caller.id, additions.c.day == day)
    if tx.execute(mine).scalar_one() > SPACES_A_DAY:
        raise TooMany(
            "too_many_additions",
            f"You have added people to {SPACES_A_DAY} spaces today, which is the limit. Try again tomorrow, "
            "or ask an admin of this gateway.",
            retry_after=((day + 1) * DAY_MILLIS - tx.now) // 1000 + 1,
        )
