"""Claims runs for a worker, each with a lease that a heartbeat renews.

First runs that have begun before (resumed waits, runs of dead workers), then new runs for pending deliveries, oldest
first. A run that may have killed its workers is claimed alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Sequence
from typing import Any

from majlis.minds.timeline.load import Shared
from majlis.runs.claim.capacity import ClaimedRuns
from majlis.runs.claim.resume import resume_runs
from majlis.runs.claim.runs_per_cause import tell_spaces
from majlis.runs.claim.start import start_runs
from majlis.runs.engine import Configs
from majlis.runs.loop.perceive import mind_of
from majlis.runs.run import Run, announce
from majlis.spaces.damaged_rows import Unreadable, reading
from majlis.store.transactions import Tx


def claim(
    tx: Tx,
    owner: str,
    free: int,
    full: Collection[str],
    dead: Collection[str],
    configs: Configs | None = None,
    held: Collection[str] = (),
    unfinished: bool = True,
) -> ClaimedRuns:
    """At most `free` runs, leased to `owner`. With `configs`, runs of agents whose config is known also get their scene
    loaded, which saves a transaction. `held` are the owner's own runs: they are not dead, even if their leases expired
    while the machine slept. Without `unfinished` only new runs are claimed."""
    claimed = ClaimedRuns(set(full), alone=not held)
    while (
        unfinished
        and len(claimed.runs) < free
        and resume_runs(tx, owner, claimed, free - len(claimed.runs), dead, held)
    ):
        claimed.behind = True
    while len(claimed.runs) < free and not claimed.closed and start_runs(tx, owner, claimed, free - len(claimed.runs)):
        continue
    count = Counter(run.agent_id for run in claimed.runs)
    for run in claimed.runs:
        run.alone = run.alone and count[run.agent_id] == 1
    if configs is not None:
        claimed.scenes = _load_scenes(tx, claimed.runs, configs)
    if claimed.refused:
        tell_spaces(tx, claimed.refused)
    announce(tx, claimed.events)
    return claimed


def _load_scenes(tx: Tx, runs: Sequence[Run], configs: Configs) -> dict[str, Any]:
    """Loads the scenes in step, so that their reads share round trips. None for a run that has to load its scene
    itself: its config is not parsed yet, a consciousness reads too much while a claim holds locks, and a damaged row
    must fail its run alone (R9)."""
    scenes: dict[str, Any] = {}
    loading: dict[str, Generator[None, None, Any]] = {}
    shared = Shared()
    for run in runs:
        config = configs.known(run.agent_id, run.agent_version)
        if config is not None and not run.cycle:
            run.adopt(config)
            loading[run.id] = mind_of(run.config).load_in_steps(tx, run, shared)
    while loading:
        for run_id, steps in tuple(loading.items()):
            try:
                with reading():
                    is_loaded, scenes[run_id] = _advance(steps)
            except Unreadable:
                is_loaded = True
            if is_loaded:
                del loading[run_id]
    return scenes


def _advance(steps: Generator[None, None, Any]) -> tuple[bool, Any]:
    try:
        return False, next(steps)
    except StopIteration as done:
        return True, done.value
