"""Lanes: a roles agent handles the messages of a space one at a time, in order, so that no two runs show overlapping
blocks of missed messages (R5). A failed try comes before later messages. Different spaces run concurrently."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from majlis.store.hot import among, hot
from majlis.store.tables import deliveries, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

Lane = tuple[str, str]

_UNDER_WAY = hot(
    sa.select(runs.c.agent_id, runs.c.trigger_space_id).where(
        among(runs.c.agent_id, "agents"), NOT_OVER, runs.c.trigger_space_id.is_not(None)
    )
)
# Deliveries that failed before, or that a person asked to retry. Those that gather or stand by also have a
# `not_before`.
TRIED_BEFORE: sa.ColumnElement[bool] = sa.or_(
    deliveries.c.attempts > 0,
    sa.and_(deliveries.c.not_before > 0, deliveries.c.gather_until.is_(None), deliveries.c.elected_id.is_(None)),
)
_TRIED = hot(
    sa.select(deliveries.c.agent_id, deliveries.c.space_id, deliveries.c.id)
    .where(
        deliveries.c.state == word("pending"),
        deliveries.c.not_before > 0,
        TRIED_BEFORE,
        # An expression, so that the index on the agent is not used: few deliveries have failed, many may be pending.
        among(deliveries.c.agent_id + "", "agents"),
        deliveries.c.space_id.is_not(None),
    )
    .order_by(deliveries.c.not_before)
)

_EARLIER = hot(
    sa.select(deliveries.c.id)
    .where(
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.state == word("pending"),
        deliveries.c.not_before <= sa.bindparam("now", type_=sa.BigInteger),
        deliveries.c.space_id == sa.bindparam("space"),
        deliveries.c.id < sa.bindparam("delivery"),
        deliveries.c.type == word("space_message"),
    )
    .limit(1)
)


class Lanes:
    """Which deliveries of roles agents may start now."""

    def __init__(self, tx: Tx, agents: Iterable[str]) -> None:
        asked = {"agents": sorted(agents)}
        self._tx = tx
        self._agents = set(asked["agents"])
        self._busy: set[Lane] = {(row.agent_id, row.trigger_space_id) for row in tx.all(_UNDER_WAY, asked)}
        self._tried: dict[Lane, str] = {}
        for row in tx.all(_TRIED, asked):
            lane = row.agent_id, row.space_id
            self._tried[lane] = min(row.id, self._tried.get(lane, row.id))

    def free(self, delivery: sa.Row[Any]) -> bool:
        lane = delivery.agent_id, delivery.space_id
        if delivery.agent_id not in self._agents or delivery.space_id is None:
            return True
        first = delivery.id <= self._tried.get(lane, delivery.id)
        return lane not in self._busy and first and not self._is_behind_locked(delivery)

    def _is_behind_locked(self, delivery: sa.Row[Any]) -> bool:
        """On PostgreSQL a claim skips deliveries that another worker's claim has locked but not taken yet."""
        if self._tx.dialect == "sqlite":
            return False
        given = {"agent": delivery.agent_id, "space": delivery.space_id, "delivery": delivery.id, "now": self._tx.now}
        return self._tx.one(_EARLIER, given) is not None

    def take(self, delivery: sa.Row[Any]) -> None:
        self._busy.add((delivery.agent_id, delivery.space_id))


def lane_of(delivery: sa.Row[Any]) -> str:
    return f"{delivery.agent_id}:{delivery.space_id}"


# The same as `lane_of`, in SQL.
LANE = deliveries.c.agent_id + ":" + sa.func.coalesce(deliveries.c.space_id, "")
