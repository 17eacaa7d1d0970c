"""A run that begins takes all gathering deliveries of its agent in that space with the same person, due or not (E2).

Only agents' messages gather. A person's message keeps a run of its own, which takes the gathering ones along.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from majlis.inbox.gather import check_later
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.runs.run import Run
from majlis.store.hot import among, hot
from majlis.store.tables import deliveries
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_GATHERS = (
    deliveries.c.state == word("pending"),
    deliveries.c.gather_until.is_not(None),
    # A failed try is repeated on its own.
    deliveries.c.attempts == 0,
)
_person = sa.func.coalesce(deliveries.c.person_id, "")
_ALONG = hot(
    sa.select(deliveries)
    .where(
        among(deliveries.c.agent_id, "agents"),
        among(deliveries.c.space_id, "spaces"),
        among(_person, "persons"),
        *_GATHERS,
    )
    .order_by(deliveries.c.seq)
    .with_for_update(skip_locked=True)
)
_TAKE_SHOWN = hot(
    deliveries.update()
    .where(
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.space_id == sa.bindparam("space"),
        _person == sa.bindparam("person"),
        *_GATHERS,
        deliveries.c.seq <= sa.bindparam("shown", type_=sa.BigInteger),
    )
    .values(state="taken", run_id=sa.bindparam("run"))
    .returning(deliveries.c.chain_depth)
)


class Group(NamedTuple):
    """Deliveries for one run. `head` starts it; its trigger is the newest, or the person's message."""

    head: sa.Row[Any]
    along: Sequence[sa.Row[Any]] = ()


def ready(tx: Tx, due: Sequence[sa.Row[Any]]) -> list[sa.Row[Any]]:
    """One delivery for each run that may start: without those that go on gathering, and only one of several that are
    taken together."""
    waiting = check_later(tx, due) if any(row.gather_until is not None for row in due) else set()
    heads: dict[tuple[str, ...], str] = {}
    for row in sorted(due, key=lambda row: row.gather_until is not None):
        if row.id not in waiting:
            heads.setdefault(_run_key(row), row.id)
    chosen = set(heads.values())
    return [row for row in due if row.id in chosen or not _joins(row)]


def _joins(row: sa.Row[Any]) -> bool:
    return row.gather_until is not None and row.attempts == 0


def _run_key(row: sa.Row[Any]) -> tuple[str, ...]:
    if row.type != "space_message" or row.attempts > 0 or row.event_id != row.message_id:
        return (row.id,)
    return _key(row)


def with_gathered(tx: Tx, chosen: Sequence[sa.Row[Any]], known: Mapping[str, sa.Row[Any]]) -> list[Group]:
    """The deliveries that each of the chosen ones takes along. Turns take none, and in `roles` only older messages are
    taken (R5)."""
    groups: list[Group] = []
    taken: set[str] = set()
    gathering = _gathering(tx, [head for head in chosen if _takes(head) and known[head.agent_id].gathering])
    for head in chosen:
        found = gathering.get(_key(head), []) if _takes(head) else []
        is_first = known[head.agent_id].mind == "roles" and head.gather_until is None
        along = [
            row for row in found if row.id != head.id and row.id not in taken and (not is_first or row.seq < head.seq)
        ]
        taken.update(row.id for row in along)
        groups.append(Group(head, along))
    return groups


def _takes(head: sa.Row[Any]) -> bool:
    return head.type == "space_message" and head.event_id == head.message_id and head.cause_id is not None


def _key(row: sa.Row[Any]) -> tuple[str, str, str]:
    return row.agent_id, row.space_id, row.person_id or ""


def _gathering(tx: Tx, heads: Sequence[sa.Row[Any]]) -> dict[tuple[str, str, str], list[sa.Row[Any]]]:
    """All that gather where these begin, oldest first."""
    found: dict[tuple[str, str, str], list[sa.Row[Any]]] = defaultdict(list)
    if heads:
        agents, spaces, persons = (sorted(set(each)) for each in zip(*map(_key, heads), strict=True))
        for row in tx.all(_ALONG, {"agents": agents, "spaces": spaces, "persons": persons}):
            found[_key(row)].append(row)
    return found


def joint_trigger(group: Group, triggers: dict[str, TriggerJson]) -> tuple[sa.Row[Any], TriggerJson]:
    """The delivery that triggers the run, and its trigger, which lists all events if there are several. A run of
    agents' messages has the greatest depth, a person's message keeps its own."""
    rows = sorted((row for row in (group.head, *group.along) if row.id in triggers), key=lambda row: row.seq or 0)
    # A repeated try keeps its trigger, which also lists the deliveries that the failed try had taken.
    keeps = group.head.gather_until is None or group.head.attempts > 0
    first = group.head if keeps else rows[-1]
    trigger = triggers[first.id]
    if len(rows) == 1:
        return first, trigger
    depth = trigger["chainDepth"] if first.gather_until is None else max(row.chain_depth for row in rows)
    events: TriggerJson = {**trigger, "chainDepth": depth, "events": [triggers[row.id] for row in rows]}
    return first, events


def take_shown(tx: Tx, run: Run, space_id: str, seq: int) -> None:
    """The run has read the space up to this message, so it takes the agents' messages that were gathering there."""
    given = {"agent": run.agent_id, "space": space_id, "person": run.person_id or "", "shown": seq, "run": run.id}
    depths = [row.chain_depth for row in tx.all(_TAKE_SHOWN, given)]
    if depths and run.trigger.get("senderType") == "agent":
        run.chain_depth = max(run.chain_depth, *depths)
