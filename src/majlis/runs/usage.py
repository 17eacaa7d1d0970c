"""What an agent has cost so far: its runs, added up by the database in one query however many there are."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.agents.agents import access_agent
from majlis.entities.caller import Caller
from majlis.runs.shapes import AgentUsageJson
from majlis.store.tables import runs
from majlis.store.transactions import Tx


def _sum(column: sa.Column[int]) -> sa.ColumnElement[int]:
    """A whole number also on PostgreSQL, whose sums are decimals, and 0 for an agent that has never run."""
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger).label(column.name)


_USAGE = sa.select(
    sa.func.count().label("runs"),
    *(_sum(column) for column in (runs.c.requests, runs.c.input_tokens, runs.c.cached_tokens, runs.c.output_tokens)),
).where(runs.c.agent_id == sa.bindparam("agent"))


def get_usage(tx: Tx, caller: Caller, agent_id: str) -> AgentUsageJson:
    access_agent(tx, caller, agent_id)
    row = tx.execute(_USAGE, {"agent": agent_id}).one()
    return {
        "runs": row.runs,
        "requests": row.requests,
        "inputTokens": row.input_tokens,
        "cachedTokens": row.cached_tokens,
        "outputTokens": row.output_tokens,
    }
