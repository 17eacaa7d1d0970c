"""Taking work: whoever changes the row has it, for as long as its lease lasts (30 s, renewed by a heartbeat).

First what has begun already (resumed waits, runs of dead workers), then what is owed, oldest first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from majlis.runs.claim.claimed import Claim, Claimed
from majlis.runs.claim.resume import take_up
from majlis.runs.claim.start import begin
from majlis.runs.view.events import announce
from majlis.spaces.damage import Unreadable, reading
from majlis.store.transactions import Tx

Look = Callable[[Tx, Claimed], Any]


def claim(
    tx: Tx,
    owner: str,
    free: int,
    full: Collection[str],
    dead: Collection[str],
    look: Look | None = None,
    held: Collection[str] = (),
    unfinished: bool = True,
) -> Claim:
    """At most `free` runs, with a lease for `owner`. `look` loads what a run sees: here it costs no thread and no
    connection of its own. `held` are runs that the owner is working on: it knows better than the clock that they have
    not died, also after the machine has slept. Without `unfinished` only what is owed is looked for."""
    made = Claim(set(full))
    while unfinished and len(made.claimed) < free and take_up(tx, owner, made, free - len(made.claimed), dead, held):
        made.behind = True
    while len(made.claimed) < free and begin(tx, owner, made, free - len(made.claimed)):
        continue
    _mark_alone(made.claimed)
    if look is not None:
        for run in made.claimed:
            run.scene = _seen(tx, run, look)
    announce(tx, made.events)
    return made


def _seen(tx: Tx, run: Claimed, look: Look) -> Any:
    """What cannot be read fails this run alone, when it looks by itself: the claim of the others stands (R9)."""
    try:
        with reading():
            return look(tx, run)
    except Unreadable:
        return None


def _mark_alone(claimed: list[Claimed]) -> None:
    count = Counter(run.agent_id for run in claimed)
    for run in claimed:
        run.alone = run.alone and count[run.agent_id] == 1
