"""Bursts of answers: messages that would have counted as answers to a wait, and arrive after it has ended but before
the resumed run looks at the space, belong to that run (W7). So three quick votes are one run.

The claim that resumes the run takes them, before its scene is loaded. Until then no new run of the agent starts in that
space.
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from majlis.runs.run import Run
from majlis.store.tables import deliveries, messages, runs
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx
from majlis.waits.collect import counts

_QUESTION = sa.select(messages.c.seq).where(messages.c.id == sa.bindparam("question")).scalar_subquery()
_ARRIVED = (
    sa.select(
        deliveries.c.id,
        deliveries.c.chain_depth,
        messages.c.sender_id,
        messages.c.reply_to,
        messages.c.mentions,
        # Agents' messages that are gathering, on behalf of the same person, are taken along too (E2).
        sa.and_(
            deliveries.c.gather_until.is_not(None),
            sa.func.coalesce(deliveries.c.person_id, "") == sa.bindparam("person"),
        ).label("gathers"),
    )
    .join(messages, messages.c.id == deliveries.c.message_id)
    .where(
        deliveries.c.agent_id == sa.bindparam("agent"),
        deliveries.c.space_id == sa.bindparam("space"),
        deliveries.c.state == word("pending"),
        deliveries.c.attempts == 0,
        deliveries.c.seq > _QUESTION,
    )
    .with_for_update(skip_locked=True, of=deliveries)
)
_TAKE = (
    deliveries.update()
    .where(deliveries.c.id.in_(sa.bindparam("deliveries", expanding=True)))
    .values(state="taken", run_id=sa.bindparam("run"))
)
_DEEPEN = runs.update().where(runs.c.id == sa.bindparam("run")).values(chain_depth=sa.bindparam("depth"))
_RESUMING = sa.select(runs.c.agent_id, runs.c.wait).where(
    runs.c.agent_id.in_(sa.bindparam("agents", expanding=True)),
    NOT_OVER,
    runs.c.status == word("queued"),
    # A run that is parked for its budget resumes later (E5).
    runs.c.reason.is_distinct_from(word("budget")),
    runs.c.wait_message_id.is_not(None),
)


def take_burst(tx: Tx, run: Run) -> None:
    """`run` is being resumed."""
    wait = run.wait
    if wait is None or wait.outcome is None or wait.outcome.status != "replied":
        return
    given = {"agent": run.agent_id, "space": wait.space_id, "question": wait.message_id}
    rows = tx.all(_ARRIVED, {**given, "person": run.person_id or ""})
    meant = [
        row
        for row in rows
        if row.gathers or counts(wait, run.agent_id, row.sender_id, row.reply_to, row.mentions or (), tx.now)
    ]
    if not meant:
        return
    tx.execute(_TAKE, {"deliveries": [row.id for row in meant], "run": run.id})
    deepest = max(row.chain_depth for row in meant)
    if deepest > run.chain_depth:
        run.chain_depth = deepest
        tx.execute(_DEEPEN, {"run": run.id, "depth": deepest})


def resuming_in(tx: Tx, agents: Iterable[str]) -> set[tuple[str, str]]:
    """Agents and spaces in which a run of the agent is about to resume."""
    return {(row.agent_id, row.wait["spaceId"]) for row in tx.all(_RESUMING, {"agents": sorted(agents)})}
