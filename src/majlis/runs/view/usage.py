"""Usage and cost of an agent, summed over its runs in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol, cast

import sqlalchemy as sa

from majlis.agents.agents import access_agent
from majlis.agents.config.model import model_name
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.runs.view.shapes import AgentUsageJson, DayUsageJson
from majlis.store.tables import runs
from majlis.store.transactions import Tx


def _sum(column: sa.Column[int]) -> sa.ColumnElement[int]:
    """An integer on PostgreSQL too, whose sums are decimals; 0 for an agent that has never run."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger).label(column.name)


_SPENT = (runs.c.requests, runs.c.input_tokens, runs.c.cached_tokens, runs.c.output_tokens)
_USAGE = sa.select(sa.func.count().label("runs"), *(_sum(column) for column in _SPENT)).where(
    runs.c.agent_id == sa.bindparam("agent")
)
_DAY = 86_400_000
_DAY_OF_RUN = (runs.c.created_at // sa.literal_column(str(_DAY), sa.BigInteger)).label("day")
_BY_DAY = (
    _USAGE.add_columns(_DAY_OF_RUN, runs.c.model)
    .where(runs.c.created_at >= sa.bindparam("since"))
    .group_by(_DAY_OF_RUN, runs.c.model)
    .order_by(_DAY_OF_RUN)
)


class Price(Protocol):
    def of(self, input: int, cached: int, output: int) -> float: ...


def get_usage(tx: Tx, caller: Caller, agent_id: str) -> AgentUsageJson:
    access_agent(tx, caller, agent_id)
    return _usage_json(tx.execute(_USAGE, {"agent": agent_id}).one())


def list_usage_by_day(
    tx: Tx, caller: Caller, agent_id: str, days: int, prices: Mapping[str, Price]
) -> list[DayUsageJson]:
    """The last `days` including today, oldest first; days without a run are left out. The price is that of the model a
    run used, or of the agent's current model if that is unknown."""
    agent = access_agent(tx, caller, agent_id)
    since = (tx.now // _DAY - days + 1) * _DAY
    rows = tx.all(_BY_DAY, {"agent": agent_id, "since": since})
    now = model_name(agent.config["model"])
    by_day = groupby(rows, key=lambda row: row.day)
    return [_day_json(day, [(row, prices.get(row.model or now)) for row in found]) for day, found in by_day]


def _day_json(day: int, by_model: Sequence[tuple[sa.Row[Any], Price | None]]) -> DayUsageJson:
    parts: list[Any] = [_usage_json(row) for row, _ in by_model]
    usage = {name: sum(part[name] for part in parts) for name in parts[0]}
    return cast(DayUsageJson, {**usage, "day": iso(day * _DAY)[:10], "cost": _cost(by_model)})


def _cost(by_model: Sequence[tuple[sa.Row[Any], Price | None]]) -> float | None:
    """None also where only a part has a price: that part would pass for the whole."""
    spent = [(row, price) for row, price in by_model if row.input_tokens or row.output_tokens] or by_model
    total = 0.0
    for row, price in spent:
        if price is None:
            return None
        total += price.of(row.input_tokens, row.cached_tokens, row.output_tokens)
    return total


def _usage_json(row: sa.Row[Any]) -> AgentUsageJson:
    return {
        "runs": row.runs,
        "requests": row.requests,
        "inputTokens": row.input_tokens,
        "cachedTokens": row.cached_tokens,
        "outputTokens": row.output_tokens,
    }
