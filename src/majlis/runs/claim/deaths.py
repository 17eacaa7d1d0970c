"""Runs that kill their worker (G1).

A worker dies with all its runs, and only one of them may be the reason. So a death counts only against runs that have
finished no call since the last one. A run with two such deaths is tried alone, in a worker that has nothing else: if
the worker dies again, the run was the reason and fails. Other suspects pass this test.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.store.hot import hot
from majlis.store.tables import runs, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

SUSPECT_DEATHS = 2
MAX_DEATHS = 3
# `not_before` of an event that a cycle has to handle alone. It goes before all others.
ALONE = -1

# Calls only: the model's response is written together with its first call, which may be the deadly one.
_FINISHED = hot(
    sa.select(sa.func.count()).where(
        steps.c.run_id == sa.bindparam("run"), steps.c.kind == word("tool"), steps.c.state != word("started")
    )
)
_ACQUIT = (
    runs.update()
    .where(
        runs.c.id == sa.bindparam("run"),
        runs.c.fence == sa.bindparam("fence_now", type_=sa.BigInteger),
        runs.c.deaths > 0,
    )
    .values(deaths=runs.c.deaths - 1)
)


def is_suspect(deaths: int) -> bool:
    return deaths == SUSPECT_DEATHS


def count_deaths(tx: Tx, run: sa.Row[Any], died: bool) -> tuple[int, int]:
    """Deaths without progress, and the number of finished calls. `died`: its worker has just died."""
    if not died and run.deaths == 0:
        return 0, run.finished_calls
    finished: int = tx.execute(_FINISHED, {"run": run.id}).scalar_one()
    if finished > run.finished_calls:
        return 0, finished
    return run.deaths + int(died), finished


def acquit(tx: Tx, run_id: str, fence: int) -> None:
    """The worker that lost this run is alive: it only lost its lease, for example while the database was away."""
    tx.execute(_ACQUIT, {"run": run_id, "fence_now": fence + 1})
