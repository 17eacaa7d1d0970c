"""How many runs agents' messages may start for one cause (E4). Depth bounds the length of a chain, this its breadth.

A run that a person's message starts directly, a resumed run and a retry do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.inbox.deliver import turn_of_event
from majlis.inbox.trigger_shapes import EventJson
from majlis.inbox.turns import settled_in_turn
from majlis.runs.claim.arrivals import Arrival
from majlis.spaces.access import lock_spaces
from majlis.spaces.post import post_notice
from majlis.store.hot import hot
from majlis.store.tables import causes, deliveries
from majlis.store.transactions import Tx

_COUNT = hot(
    causes.update()
    .where(causes.c.id == sa.bindparam("cause"))
    .values(runs=causes.c.runs + sa.bindparam("more", type_=sa.BigInteger))
    .returning(causes.c.runs)
)
_PASS = hot(
    deliveries.update()
    .where(deliveries.c.id == sa.bindparam("delivery"))
    .values(state="passed", payload=sa.bindparam("kept", type_=deliveries.c.payload.type))
)
REASON = "the limit of runs for one cause"


def _is_counted(delivery: sa.Row[Any], event: EventJson) -> bool:
    by_agent = event.get("senderType") == "agent" or "turnId" in event
    return by_agent and delivery.cause_id is not None and "earlierRuns" not in delivery.payload


def without_excess(
    tx: Tx, chosen: Sequence[Arrival], along: Mapping[str, Sequence[Arrival]]
) -> tuple[list[Arrival], list[Arrival]]:
    """Returns the deliveries that may start a run each, and passes those past the limit, together with the ones they
    would take along (`along`, by delivery): these have the same cause and would be refused next."""
    wanted = Counter(each.delivery.cause_id for each in chosen if _is_counted(*each))
    if not wanted:
        return list(chosen), []
    room = _take(tx, wanted)
    allowed: list[Arrival] = []
    refused: list[Arrival] = []
    for each in chosen:
        if _is_counted(*each):
            room[each.delivery.cause_id] -= 1
        if _is_counted(*each) and room[each.delivery.cause_id] < 0:
            cause_id = each.delivery.cause_id
            others = along.get(each.delivery.id, ())
            refused += [
                each,
                *(other for other in others if _is_counted(*other) and other.delivery.cause_id == cause_id),
            ]
        else:
            allowed.append(each)
    _pass(tx, refused)
    return allowed, refused


def without_spent_cause(tx: Tx, arrived: Sequence[Arrival]) -> tuple[list[Arrival], list[Arrival]]:
    """Like `without_excess`, for a cycle, which is one run for all its events. It counts for the cause of its first
    one, if that is an agent's message: then no event is a person's."""
    left, refused = list(arrived), []
    while left and _is_counted(*left[0]):
        cause_id = left[0].delivery.cause_id
        if _take(tx, {cause_id: 1})[cause_id] > 0:
            break
        refused += [each for each in left if each.delivery.cause_id == cause_id]
        left = [each for each in left if each.delivery.cause_id != cause_id]
    _pass(tx, refused)
    return left, refused


def tell_spaces(tx: Tx, refused: Iterable[Arrival]) -> None:
    """One notice per cause and space. Called at the end of a claim, because it locks spaces."""
    about = {(each.delivery.space_id, each.delivery.cause_id): each.delivery for each in refused}
    if not about:
        return
    lock_spaces(tx, (space_id for space_id, _ in about))
    limit = tx.hooks.max_runs_per_cause
    text = (
        f"Agents' messages have started {limit} runs since a person last posted, which is the limit. New messages of "
        "agents are shown here but start no runs. A message from a person resets this."
    )
    for (space_id, cause_id), delivery in sorted(about.items()):
        post_notice(tx, space_id, text, delivery.message_id, once=f"runs:{cause_id}")


def _take(tx: Tx, wanted: dict[str, int]) -> dict[str, int]:
    """How many of the wanted runs each cause still has room for. In the order of ids, to avoid deadlocks."""
    room = {}
    for cause_id, more in sorted(wanted.items()):
        counted = tx.one(_COUNT, {"cause": cause_id, "more": more})
        # A cause that was not imported has no row, and no limit.
        room[cause_id] = more - max(0, counted.runs - tx.hooks.max_runs_per_cause) if counted is not None else more
    return room


def _pass(tx: Tx, refused: Sequence[Arrival]) -> None:
    if refused:
        kept = [{"delivery": row.id, "kept": {**row.payload, "reason": REASON}} for row, _ in refused]
        tx.execute(_PASS, kept)
    for row, _ in refused:
        turn_id = turn_of_event(row.event_id)
        if turn_id is not None:
            settled_in_turn(tx, turn_id)
