"""Claims runs for a worker, each with a lease (30 s, renewed by a heartbeat).

First runs that have begun before (resumed waits, runs of dead workers), then new runs for pending deliveries, oldest
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from majlis.runs.claim.capacity import ClaimedRuns
from majlis.runs.claim.resume import resume_runs
from majlis.runs.claim.start import start_runs
from majlis.runs.run import Run, announce
from majlis.spaces.damage import Unreadable, reading
from majlis.store.transactions import Tx

Look = Callable[[Tx, Run], Any]


def claim(
    tx: Tx,
    owner: str,
    free: int,
    full: Collection[str],
    dead: Collection[str],
    look: Look | None = None,
    held: Collection[str] = (),
    unfinished: bool = True,
) -> ClaimedRuns:
    """At most `free` runs, leased to `owner`. `look` loads what a run sees, without a transaction of its own. `held`
    are the owner's own runs: they are not dead, even if their leases ran out while the machine slept. Without
    `unfinished` only new runs are claimed."""
    claimed = ClaimedRuns(set(full))
    while (
        unfinished
        and len(claimed.runs) < free
        and resume_runs(tx, owner, claimed, free - len(claimed.runs), dead, held)
    ):
        claimed.behind = True
    while len(claimed.runs) < free and start_runs(tx, owner, claimed, free - len(claimed.runs)):
        continue
    count = Counter(run.agent_id for run in claimed.runs)
    for run in claimed.runs:
        run.alone = run.alone and count[run.agent_id] == 1
        if look is not None:
            claimed.scenes[run.id] = _load(tx, run, look)
    announce(tx, claimed.events)
    return claimed


def _load(tx: Tx, run: Run, look: Look) -> Any:
    """A damaged row must not fail the whole claim: the run loads its scene itself, and fails alone (R9)."""
    try:
        with reading():
            return look(tx, run)
    except Unreadable:
        return None
