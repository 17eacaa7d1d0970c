"""How a cycle ends. A completed cycle is appended to the agent's consciousness in the transaction that settles it (K3).
A failed cycle leaves no trace there, and its events are retried together (K8). Events that a cycle did not reach before
its limit go into the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.inbox.retry import offer_again, with_earlier
from majlis.inbox.standby import settle_standby
from majlis.inbox.turns import settled_in_turn
from majlis.minds.consciousness.remember import Lived
from majlis.minds.consciousness.scene import Past
from majlis.runs.claim.deaths import ALONE
from majlis.runs.journal import Fenced
from majlis.runs.run import Run
from majlis.store.tables import agents, cycles, deliveries, pasts
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx

_LAST = sa.select(sa.func.coalesce(sa.func.max(cycles.c.n), 0)).where(cycles.c.agent_id == sa.bindparam("agent"))
_STANDS = (
    agents.update()
    .where(agents.c.id == sa.bindparam("agent"))
    .values(active_space_id=sa.bindparam("space", type_=agents.c.active_space_id.type))
)

_INBOX = sa.select(deliveries.c.id, deliveries.c.space_id, deliveries.c.message_id, deliveries.c.payload).where(
    deliveries.c.run_id == sa.bindparam("run"), deliveries.c.state == word("taken")
)
_NEXT_CYCLE = (
    deliveries.update()
    .where(deliveries.c.id == sa.bindparam("delivery"))
    .values(state="pending", payload=sa.bindparam("kept", type_=deliveries.c.payload.type))
)

_ALONE = _NEXT_CYCLE.values(not_before=ALONE)


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


def offer_unreached(tx: Tx, run: Run, wrote: Mapping[str, int]) -> None:
    """The cycle has reached a limit. `wrote` counts its messages by space. Each accounts for one event: the first
    unanswered one of its space, or else the first without a space. At least one event counts as reached, so that an
    inbox that exceeds every limit ends."""
    places = {event.get("messageId"): at for at, event in enumerate(run.trigger.get("events", ()))}
    inbox = sorted(
        tx.all(_INBOX, {"run": run.id}), key=lambda each: (places.get(each.message_id, len(places)), each.id)
    )
    left = dict(wrote)
    unreached = [each for each in inbox if each.space_id is None or not _use(left, each.space_id)]
    elsewhere = sum(left.values())
    reached = [each.id for each in unreached if each.space_id is None][:elsewhere]
    if len(unreached) == len(inbox) and not reached:
        reached = [inbox[0].id] if inbox else []
    for each in unreached:
        if each.id not in reached:
            tx.execute(_NEXT_CYCLE, {"delivery": each.id, "kept": {**each.payload, "again": True}})


def _use(left: dict[str, int], space_id: str) -> bool:
    if left.get(space_id, 0) == 0:
        return False
    left[space_id] -= 1
    return True


def offer_one_by_one(tx: Tx, run_id: str) -> None:
    """Each event becomes a cycle of its own, alone in its worker (G1). No try is counted."""
    for each in tx.all(_INBOX, {"run": run_id}):
        tx.execute(_ALONE, {"delivery": each.id, "kept": with_earlier(each.payload, run_id)})


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
    for each in given_up:
        settle_standby(tx, each, "failed")
    return given_up


def _kept(past: Past) -> dict[str, Any]:
    return {**asdict(past), "groups": [{**asdict(group), "said": list(group.said)} for group in past.groups]}
