"""Usage and cost of runs: of one agent, and summed by agent, space, person, day or model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, cast

import sqlalchemy as sa

from majlis.agents.agents import access_agent
from majlis.clock import Millis, day_of, iso
from majlis.entities.caller import Caller
from majlis.runs.view.queries import visible_runs
from majlis.runs.view.shapes import AgentUsageJson, DayUsageJson, UsageReportJson, UsageRowJson
from majlis.store import ids
from majlis.store.tables import entities, members, runs, spaces, summary_requests
from majlis.store.transactions import Tx

UsageBy = Literal["agent", "space", "person", "day", "model"]


def _sum(column: sa.ColumnElement[int], name: str) -> sa.ColumnElement[int]:
    """An integer on PostgreSQL too, whose sums are decimals; 0 for an agent that has never run."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger).label(name)


_TOKENS = (runs.c.requests, runs.c.input_tokens, runs.c.cached_tokens, runs.c.output_tokens)
_IS_UNPRICED = sa.case((sa.and_(runs.c.cost.is_(None), runs.c.input_tokens + runs.c.output_tokens > 0), 1), else_=0)
_USAGE = sa.select(
    sa.func.count().label("runs"),
    *(_sum(column, column.name) for column in _TOKENS),
    sa.func.sum(runs.c.cost).label("cost"),
    _sum(_IS_UNPRICED, "unpriced"),
)
_OF_AGENT = _USAGE.where(runs.c.agent_id == sa.bindparam("agent"))
_DAY = 86_400_000
# Every time zone is off UTC by a multiple of this.
_QUARTER = 900_000


def _bucket(millis: int) -> sa.ColumnElement[int]:
    return (runs.c.created_at // sa.literal_column(str(millis), sa.BigInteger)).label("key")


_BY_DAY = (
    _OF_AGENT.add_columns(_bucket(_DAY))
    .where(runs.c.created_at >= sa.bindparam("since"))
    .group_by(_bucket(_DAY))
    .order_by(_bucket(_DAY))
)
_KEYS: dict[UsageBy, sa.ColumnElement[Any]] = {
    "agent": runs.c.agent_id.label("key"),
    "space": runs.c.trigger_space_id.label("key"),
    "person": runs.c.person_id.label("key"),
    "day": _bucket(_QUARTER),
    "model": runs.c.model.label("key"),
}
_SUMMARY_KEYS: dict[UsageBy, sa.ColumnElement[Any]] = {
    "space": summary_requests.c.space_id,
    "day": summary_requests.c.created_at // sa.literal_column(str(_QUARTER), sa.BigInteger),
    "model": summary_requests.c.model,
}
_SUMMARY_IS_UNPRICED = sa.case((summary_requests.c.cost.is_(None), 1), else_=0)
_SUMMARIES = sa.select(
    sa.literal(0).label("runs"),
    sa.func.count().label("requests"),
    *(_sum(summary_requests.c[name], name) for name in ("input_tokens", "cached_tokens", "output_tokens")),
    sa.func.sum(summary_requests.c.cost).label("cost"),
    _sum(_SUMMARY_IS_UNPRICED, "unpriced"),
)
_NOTHING: dict[UsageBy, str] = {"agent": "No agent", "space": "No space", "person": "No person", "model": "No model"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which runs to sum: those created from `since` and before `until`, in a space or for a cause if given."""

    by: UsageBy
    since: Millis
    until: Millis
    timezone: str
    space_id: str | None = None
    cause_id: str | None = None


def get_usage(tx: Tx, caller: Caller, agent_id: str) -> AgentUsageJson:
    access_agent(tx, caller, agent_id)
    return _usage_json(tx.execute(_OF_AGENT, {"agent": agent_id}).one())


def list_usage_by_day(tx: Tx, caller: Caller, agent_id: str, days: int) -> list[DayUsageJson]:
    """The last `days` including today, oldest first; days without a run are left out."""
    access_agent(tx, caller, agent_id)
    since = (tx.now // _DAY - days + 1) * _DAY
    rows = tx.all(_BY_DAY, {"agent": agent_id, "since": since})
    return [{**_usage_json(row), "day": iso(row.key * _DAY)[:10], "cost": row.cost} for row in rows]


def report_usage(tx: Tx, caller: Caller, asked: Asked) -> UsageReportJson:
    """Sums the runs that the caller may see; an administrator sees the sums of all runs. The most expensive come first,
    days in order."""
    key = _KEYS[asked.by]
    rows = [
        *tx.all(_USAGE.add_columns(key).where(*_chosen(caller, asked)).group_by(key)),
        *_summaries(tx, caller, asked),
    ]
    if asked.by == "day":
        return _report(_joined_days(rows, asked.timezone))
    name = _names(tx, caller, asked.by, [row.key for row in rows if row.key is not None])
    found = groupby(sorted(rows, key=lambda row: row.key or ""), key=lambda row: row.key)
    listed = [_added([_row_json(row, key, name(key)) for row in parts]) for key, parts in found]
    return _report(sorted(listed, key=lambda row: (-(row["cost"] or 0), -row["inputTokens"], row["name"])))


def _summaries(tx: Tx, caller: Caller, asked: Asked) -> Sequence[sa.Row[Any]]:
    """What summaries cost (F3). The cost belongs to the space, and to no agent, person or cause."""
    if asked.cause_id is not None:
        return ()
    at = summary_requests.c.created_at
    chosen = [at >= asked.since, at < asked.until]
    if asked.space_id is not None:
        chosen.append(summary_requests.c.space_id == asked.space_id)
    if not caller.administers:
        mine = sa.select(members.c.space_id).where(members.c.entity_id == caller.id)
        chosen.append(summary_requests.c.space_id.in_(mine))
    key = _SUMMARY_KEYS.get(asked.by, sa.cast(sa.null(), sa.String)).label("key")
    return tx.all(_SUMMARIES.add_columns(key).where(*chosen).group_by(key))


def _chosen(caller: Caller, asked: Asked) -> list[sa.ColumnElement[bool]]:
    chosen = [
        # Ids ascend with time: the primary key finds the first run, with a day to spare.
        runs.c.id >= ids.first_at("run", asked.since - _DAY),
        runs.c.created_at >= asked.since,
        runs.c.created_at < asked.until,
    ]
    if not caller.administers:
        chosen.append(sa.or_(*visible_runs(caller)))
    if asked.space_id is not None:
        chosen.append(runs.c.trigger_space_id == asked.space_id)
    if asked.cause_id is not None:
        chosen.append(runs.c.cause_id == asked.cause_id)
    return chosen


def _names(tx: Tx, caller: Caller, by: UsageBy, keys: Sequence[str]) -> Callable[[str | None], str]:
    if by == "model":
        return lambda key: key or _NOTHING["model"]
    found = {row.id: row.name for row in tx.all(_named(caller, by).where(sa.column("id").in_(keys)))} if keys else {}
    hidden = "Private space" if by == "space" else "Deleted"
    return lambda key: found.get(key, hidden) if key is not None else _NOTHING.get(by, "")


def _named(caller: Caller, by: UsageBy) -> sa.Select[Any]:
    """Only members see the name of a space."""
    if by != "space":
        return sa.select(entities.c.id, entities.c.name)
    mine = sa.select(members.c.space_id).where(members.c.entity_id == caller.id)
    return sa.select(spaces.c.id, spaces.c.name).where(spaces.c.id.in_(mine))


def _joined_days(rows: Iterable[sa.Row[Any]], timezone: str) -> list[UsageRowJson]:
    """Sums quarters of an hour into days, whose length depends on the time zone."""
    in_order = sorted(rows, key=lambda row: row.key)
    days = groupby(in_order, key=lambda row: day_of(row.key * _QUARTER, timezone))
    return [_added([_row_json(row, day, day) for row in parts]) for day, parts in days]


def _added(parts: list[UsageRowJson]) -> UsageRowJson:
    counted = (*AgentUsageJson.__annotations__, "unpricedRuns")
    sums = {name: sum(cast(Any, part)[name] for part in parts) for name in counted}
    costs = [part["cost"] for part in parts if part["cost"] is not None]
    return cast(UsageRowJson, {**parts[0], **sums, "cost": sum(costs) if costs else None})


def _report(rows: list[UsageRowJson]) -> UsageReportJson:
    return {"rows": rows, "currency": "USD"}


def _row_json(row: sa.Row[Any], key: str | None, name: str) -> UsageRowJson:
    return {**_usage_json(row), "key": key, "name": name, "cost": row.cost, "unpricedRuns": row.unpriced}


def _usage_json(row: sa.Row[Any]) -> AgentUsageJson:
    return {
        "runs": row.runs,
        "requests": row.requests,
        "inputTokens": row.input_tokens,
        "cachedTokens": row.cached_tokens,
        "outputTokens": row.output_tokens,
    }
