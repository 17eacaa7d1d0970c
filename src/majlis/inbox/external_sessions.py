"""External sessions (Claude Code and the like): each belongs to one agent in one space (R7).

A session comes with a message or a model's answer, and stays until a newer one replaces it. A unique constraint keeps
it from being bound twice; the look-up before it only gives a better error message.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from majlis.errors import Conflict, Invalid
from majlis.spaces.post import Posted
from majlis.store.tables import agents, entities, members
from majlis.store.transactions import Tx

_BOUND = (
    sa.select(members.c.space_id, members.c.entity_id, entities.c.name)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(members.c.session_id == sa.bindparam("session"))
)
_ROLES = sa.select(agents.c.id).where(
    agents.c.id.in_(sa.bindparam("agents", expanding=True)), agents.c.config["mind"].as_string() == "roles"
)
_other = members.alias("other")
_OURS = members.c.space_id == sa.bindparam("space"), members.c.entity_id == sa.bindparam("agent")
_BIND = members.update().where(*_OURS).values(session_id=sa.bindparam("session"))
_KEEP = _BIND.where(
    ~sa.exists().where(
        _other.c.session_id == sa.bindparam("session"),
        sa.or_(_other.c.space_id != members.c.space_id, _other.c.entity_id != members.c.entity_id),
    )
)


def bind_offered(tx: Tx, posted: Posted, heard: Collection[str]) -> None:
    """Binds a message's session to its sender if that is an agent, else to the one roles agent the message is for. If
    the session is bound elsewhere, the whole message is refused."""
    assert posted.session_id is not None
    message = posted.message
    space_id, sender = message["spaceId"], message["sender"]
    mentioned = set(heard) & set(message["mentions"])
    if sender["type"] == "agent":
        agent_id: str | None = sender["id"]
    else:
        agent_id = _meant(tx, space_id, posted.session_id, mentioned or heard)
    if agent_id is None:
        return
    try:
        tx.execute(_BIND, {"space": space_id, "agent": agent_id, "session": posted.session_id})
    except sa.exc.IntegrityError:
        raise _elsewhere() from None


def keep_session(tx: Tx, space_id: str, agent_id: str, session_id: str) -> bool:
    """Binds the session of a model's answer; False if it belongs to another agent or space."""
    return tx.execute(_KEEP, {"space": space_id, "agent": agent_id, "session": session_id}).rowcount == 1


def _meant(tx: Tx, space_id: str, session_id: str, heard: Collection[str]) -> str | None:
    bound = tx.one(_BOUND, {"session": session_id})
    if bound is not None:
        if bound.space_id != space_id:
            raise _elsewhere()
        if bound.entity_id not in heard:
            raise _elsewhere(f" It belongs to {bound.name}: mention {bound.name} to continue it.")
        return None
    able = [row.id for row in tx.all(_ROLES, {"agents": sorted(heard)})] if heard else []
    if len(able) > 1:
        raise Invalid(
            "session_ambiguous",
            "A session belongs to one agent, and this message triggers several. Mention the one you mean.",
            {"path": "sessionId"},
        )
    return able[0] if able else None


def _elsewhere(more: str = " Leave it out, or continue it where it began.") -> Conflict:
    return Conflict(
        "session_bound",
        f"This sessionId belongs to another agent or space. Nothing was sent.{more}",
        {"path": "sessionId"},
    )
