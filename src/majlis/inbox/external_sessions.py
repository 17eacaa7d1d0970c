"""External sessions (Claude Code and the like): each belongs to one agent in one space (R7).

One comes with a message, or with a model's answer, and stays until a newer one takes its place. That it is nobody
else's is a unique constraint; what is asked before only makes a better sentence of the refusal.
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
    """The session of a message: an agent's own, else that of the one roles agent that the message is for. Refused as a
    whole, message included, when it is bound elsewhere."""
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
    """The session of a model's answer. Whether it was free, or the agent's own here already."""
    return tx.execute(_KEEP, {"space": space_id, "agent": agent_id, "session": session_id}).rowcount == 1


def _meant(tx: Tx, space_id: str, session_id: str, heard: Collection[str]) -> str | None:
    bound = tx.one(_BOUND, {"session": session_id})
    if bound is not None:
        if bound.space_id != space_id:
            raise _elsewhere()
        if bound.entity_id not in heard:
            raise _elsewhere(f" It is {bound.name}'s: mention {bound.name} to go on with it.")
        return None
    able = [row.id for row in tx.all(_ROLES, {"agents": sorted(heard)})] if heard else []
    if len(able) > 1:
        raise Invalid(
            "session_ambiguous",
            "A session belongs to one agent, and several would hear this message. Mention the one you mean.",
            {"path": "sessionId"},
        )
    return able[0] if able else None


def _elsewhere(more: str = " Leave it out, or go on with it where it began.") -> Conflict:
    return Conflict(
        "session_bound",
        f"This sessionId belongs to another agent or another space, and nothing was sent.{more}",
        {"path": "sessionId"},
    )
