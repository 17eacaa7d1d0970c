"""A consciousness moves with its agent: every cycle and its active space. The compaction is computed from them."""

from __future__ import annotations

import json
from pathlib import Path

from majlis.minds.consciousness.load import load_waking
from majlis.minds.consciousness.perceive import perceive
from majlis.minds.consciousness.remember import lived
from majlis.minds.consciousness.scene import Waking
from majlis.minds.timeline.scene import Look, Who
from majlis.runs.end.cycle_end import append_cycle
from majlis.store.transactions import Database, Tx
from tests.minds.scenes import config
from tests.minds.wakings import said, turns_of
from tests.transfer.sample_gateway import House, exported, imported, of_type

CYCLES = range(2, 26)


def wake(tx: Tx, house: House) -> Waking:
    made = config(mind="consciousness", consciousness={"maxTokens": 8_000, "minRecentCycles": 3})
    scout = Who(house.scout, "Scout", "agent")
    return load_waking(tx, Look(scout, made, "run_this", {"events": [said("Hi")]}, house.beta))


async def test_k3_a_moved_consciousness_remembers_everything(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    def live(tx: Tx, n: int) -> None:
        kept = lived(turns_of(n, json.dumps("x" * 2_000)), wake(tx, furnished).past)
        append_cycle(tx, furnished.scout, furnished.run, furnished.beta, kept)

    for n in CYCLES:
        await source.write(live, n)
    assert (await source.snapshot(wake, furnished)).past.through > 10
    lines = await exported(source)
    assert (await imported(target, lines, tmp_path))[0].clean
    for kind in ("cycle", "agent"):
        assert of_type(await exported(target), kind) == of_type(lines, kind)
    found = await target.snapshot(wake, furnished)
    assert found.active is not None
    text = str(perceive(found).turns)
    assert all(f"Request {n} is done." in text for n in CYCLES)
