"""The runs that a claim has taken so far, and how many more each agent may have (T8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from majlis.runs.claim.arrivals import Arrival
from majlis.runs.claim.deaths import SUSPECT_DEATHS
from majlis.runs.run import Event, Run, presence, run_event
from majlis.spaces.acts_for import has_token
from majlis.store.hot import among, hot
from majlis.store.tables import agents, deliveries, entities, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

_AGENTS = (
    sa.select(
        agents.c.id,
        agents.c.version,
        agents.c.context_limit,
        entities.c.name,
        entities.c.deleted_at,
        # A config that this version cannot read may lack these: its run fails with the reason, others go on.
        sa.func.coalesce(agents.c.config["mind"].as_string(), "timeline").label("mind"),
        sa.func.coalesce(agents.c.config["limits"]["concurrentRuns"].as_integer(), 1).label("concurrent_runs"),
        sa.select(sa.func.count())
        .select_from(runs)
        .where(runs.c.agent_id == agents.c.id, NOT_OVER, runs.c.status == word("running"))
        .scalar_subquery()
        .label("running"),
        sa.exists().where(runs.c.agent_id == agents.c.id, NOT_OVER, runs.c.status != word("running")).label("pausing"),
        has_token(sa.bindparam("now", type_=sa.BigInteger)).label("has_token"),
        sa.exists()
        .where(runs.c.agent_id == agents.c.id, NOT_OVER, runs.c.status == word("queued"), runs.c.reason == "budget")
        .label("parked"),
        # If the agent has none, the claim does not look for deliveries that a run takes along.
        sa.exists()
        .where(
            deliveries.c.agent_id == agents.c.id,
            deliveries.c.state == word("pending"),
            deliveries.c.gather_until.is_not(None),
        )
        .label("gathering"),
    )
    .join(entities, entities.c.id == agents.c.id)
    .order_by(agents.c.id)
)
# PostgreSQL plans a statement with a short list at every execution, because it expects ten elements. Planning this one
# takes longer than running it.
_ONE_AGENT = hot(_AGENTS.where(agents.c.id == sa.bindparam("agent")))
_SEVERAL_AGENTS = hot(_AGENTS.where(among(agents.c.id, "agents")))
# Workers that claim for one agent take turns, so its limit holds in the whole cluster. The weaker lock does not block a
# post, whose foreign key refers to the agent while it holds the space that a claim needs.
_LOCK = hot(
    sa.select(agents.c.id).where(among(agents.c.id, "agents")).order_by(agents.c.id).with_for_update(key_share=True)
)


@dataclass(slots=True)
class ClaimedRuns:
    # Agents at their limit: their queue is skipped until one of their runs ends.
    full: set[str]
    # The outside agent whose program takes events; None for a worker, which leaves outside agents alone (D2).
    outside: str | None = None
    # Lanes with a run in progress (`lanes.py`): the deliveries behind it are skipped.
    lanes: set[str] = field(default_factory=set)
    runs: list[Run] = field(default_factory=list)
    # By run: what it sees, where the claim could load it.
    scenes: dict[str, Any] = field(default_factory=dict)
    # The worker has no other runs, so a run that may have killed its workers can be tried here.
    alone: bool = True
    # Such a run was claimed: nothing else is.
    closed: bool = False
    # Queued runs were left behind because their agents were full.
    behind: bool = False
    events: list[Event] = field(default_factory=list)
    # Deliveries that now wait behind a run whose budget is spent.
    parked: int = 0
    # Due deliveries that go on gathering or were refused.
    in_vain: int = 0
    # Past the limit of runs for their cause.
    refused: list[Arrival] = field(default_factory=list)

    def may_isolate(self) -> bool:
        return self.alone and not self.runs

    def add(self, run: Run, event: str, **details: Any) -> None:
        self.runs.append(run)
        self.closed = self.closed or run.deaths == SUSPECT_DEATHS
        self.events += run_event(event, run, **details) + presence("agent.active", run)


def free_runs(known: Mapping[str, sa.Row[Any]]) -> dict[str, int]:
    """By agent: how many more runs it may have at once (`limits.concurrentRuns`). Less than 0 after a limit was
    lowered."""
    return {agent.id: agent.concurrent_runs - agent.running for agent in known.values()}


def known_agents(tx: Tx, wanted: set[str]) -> dict[str, sa.Row[Any]]:
    given: dict[str, Any] = {"agents": sorted(wanted)}
    if tx.dialect == "postgresql":
        # Lock first, then count: a statement that waits for a lock still sees the state from before.
        tx.ask(_LOCK, given)
    look = _SEVERAL_AGENTS
    if len(wanted) == 1:
        look, given = _ONE_AGENT, {"agent": min(wanted)}
    found = tx.all(look, {**given, "now": tx.now})
    return {agent.id: agent for agent in found if agent.deleted_at is None}
