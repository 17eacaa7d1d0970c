"""How a cycle ends. A completed cycle is appended to the agent's consciousness in the transaction that settles it (K3).
A failed cycle leaves no trace there, and its events are retried together (K8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.inbox.retry import offer_again
from majlis.inbox.turns import settled_in_turn
from majlis.minds.consciousness.remember import Lived
from majlis.minds.consciousness.scene import Past
from majlis.runs.journal import Fenced
from majlis.store.tables import agents, cycles, pasts
from majlis.store.transactions import Dialect, Tx

_LAST = sa.select(sa.func.coalesce(sa.func.max(cycles.c.n), 0)).where(cycles.c.agent_id == sa.bindparam("agent"))
_STANDS = (
    agents.update()
    .where(agents.c.id == sa.bindparam("agent"))
    .values(active_space_id=sa.bindparam("space", type_=agents.c.active_space_id.type))
)


def _keep_past(insert: Any) -> Any:
    changed = {name: insert.excluded[name] for name in ("through", "trimmed", "cap", "groups", "updated_at")}
    return insert.on_conflict_do_update(index_elements=["agent_id"], set_=changed)


_PAST: dict[Dialect, Any] = {
    "sqlite": _keep_past(sqlite.insert(pasts)),
    "postgresql": _keep_past(postgresql.insert(pasts)),
}


def append_cycle(tx: Tx, agent_id: str, run_id: str, active_space_id: str | None, lived: Lived) -> int:
    """Returns its number. There is one cycle at a time; if two workers ever count at once, the primary key refuses
    one."""
    n: int = tx.execute(_LAST, {"agent": agent_id}).scalar_one() + 1
    row = {"messages": lived.messages, "summary": lived.summary, "tokens": lived.tokens, "created_at": tx.now}
    try:
        tx.execute(cycles.insert(), {"agent_id": agent_id, "n": n, "run_id": run_id, **row})
    except sa.exc.IntegrityError as error:
        # Another worker has completed a cycle of this agent.
        raise Fenced from error
    if lived.past is not None:
        tx.execute(_PAST[tx.dialect], {"agent_id": agent_id, **_kept(lived.past), "updated_at": tx.now})
    tx.execute(_STANDS, {"agent": agent_id, "space": active_space_id})
    return n


def offer_events_again(
    tx: Tx, run_id: str, taken: Sequence[sa.Row[Any]], attempts: int, delay_of: Callable[[int], int]
) -> list[sa.Row[Any]]:
    """Together, after the longest delay, so that they are one cycle again. Each has its own count of tries. Returns the
    deliveries that have failed for good."""
    delays = [delay_of(each.attempts) for each in taken if each.attempts + 1 < attempts]
    at = tx.now + max(delays, default=0)
    for each in taken:
        offer_again(tx, each, run_id, at if each.attempts + 1 < attempts else None)
    given_up = [each for each in taken if each.attempts + 1 >= attempts]
    for turn_id in {each.payload["turnId"] for each in given_up if "turnId" in each.payload}:
        settled_in_turn(tx, turn_id)
    return given_up


def _kept(past: Past) -> dict[str, Any]:
    return {**asdict(past), "groups": [{**asdict(group), "said": list(group.said)} for group in past.groups]}
