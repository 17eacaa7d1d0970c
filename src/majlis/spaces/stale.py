"""The stale-send guard (E8): an agent's message is not posted while its run has not read what has arrived meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.store.hot import hot
from majlis.store.tables import entities, messages
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_agent: sa.BindParameter[str] = sa.bindparam("agent", type_=sa.String)
_by_person = entities.c.type == word("human")
_by_peer = sa.and_(
    entities.c.type == word("agent"),
    messages.c.sender_id != _agent,
    messages.c.cause_id == sa.bindparam("cause", type_=sa.String),
)
_by_other_run = sa.and_(
    messages.c.sender_id == sa.bindparam("own", type_=sa.String),
    messages.c.run_id != sa.bindparam("run", type_=sa.String),
)
_names_agent = sa.and_(messages.c.sender_id != _agent, sa.cast(messages.c.mentions, sa.Text).contains(_agent))
_NEWEST = hot(
    sa.select(messages.c.seq)
    .join(entities, entities.c.id == messages.c.sender_id)
    .where(
        messages.c.space_id == sa.bindparam("space"),
        messages.c.seq > sa.bindparam("seen", type_=sa.BigInteger),
        messages.c.kind == word("text"),
        messages.c.deleted_at.is_(None),
        sa.or_(_by_person, _by_peer, _by_other_run, _names_agent),
    )
    .order_by(messages.c.seq.desc())
    .limit(1)
)


class Stale(Exception):
    """A relevant message has arrived since the run's last look. The transaction must not commit."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The run that sends, and how much of the space it has looked at."""

    agent_id: str
    run_id: str
    cause_id: str | None
    # The newest message that it has looked at.
    seen: int
    # False if the run was held often enough, or may not ask its model again: its message is posted and marked.
    holds: bool = True
    # False for cycles: an agent has one at a time, and knows what it has said before.
    has_other_runs: bool = True


def crosses(tx: Tx, space_id: str, guard: Guard) -> bool:
    """True if the message crosses a relevant one. Raises Stale if it must be held."""
    if newest_relevant(tx, space_id, guard) is None:
        return False
    if guard.holds:
        raise Stale
    return True


def newest_relevant(tx: Tx, space_id: str, guard: Guard) -> int | None:
    """The number of the newest message that may change what the run says: by a person, by another agent on the same
    cause, by another run of this agent, or one that names this agent."""
    given: dict[str, Any] = {
        "space": space_id,
        "seen": guard.seen,
        "agent": guard.agent_id,
        "own": guard.agent_id if guard.has_other_runs else "",
        "run": guard.run_id,
        "cause": guard.cause_id,
    }
    found: int | None = tx.execute(_NEWEST, given).scalar_one_or_none()
    return found
