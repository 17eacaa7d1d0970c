"""`majlis prove`: schedules keep every promise, the same seed gives the same schedule, and time is simulated."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from majlis.prove.event_loop import Machine, SimulatedLoop
from majlis.prove.many import PROMISES, Outcome
from majlis.prove.promises import PROMISES as CHECKS
from majlis.prove.schedule import run_schedule

SCHEDULES = 1000 if os.environ.get("THOROUGH") else 8


def test_schedules_keep_every_promise(tmp_path: Path) -> None:
    broken = {seed: run_schedule(seed, tmp_path).broken for seed in range(1, SCHEDULES + 1)}
    assert {seed: found for seed, found in broken.items() if found} == {}


def test_a_schedule_leaves_no_event_loop_open(tmp_path: Path) -> None:
    run_schedule(1, tmp_path)
    with pytest.raises(RuntimeError, match="no current event loop"):
        asyncio.get_event_loop_policy().get_event_loop()


@pytest.mark.parametrize("seed", [4, 14, 34])
def test_the_same_seed_gives_the_same_trace_in_another_process(tmp_path: Path, seed: int) -> None:
    run_schedule(1, tmp_path)
    here = run_schedule(seed, tmp_path, traced=True)
    order = [sys.executable, "-m", "majlis.prove", str(seed), "1", "1", "traced"]
    told = subprocess.run(order, stdout=subprocess.PIPE, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    there = Outcome(**orjson.loads(told.stdout))
    assert (there.trace, there.counts) == (here.trace, here.counts)
    assert len(here.trace) > 20


def test_time_jumps_and_a_frozen_machine_goes_on_late() -> None:
    people, node = Machine("people"), Machine("node")
    loop = SimulatedLoop("1", 0, people)
    loop.machines.append(node)
    order: list[tuple[str, int]] = []

    def note(what: str) -> None:
        order.append((what, round(loop.time())))

    async def main() -> None:
        loop.call_later(3600, note, "node", context=node.context)
        loop.call_later(3601, note, "people")
        node.frozen_until = 4000
        await asyncio.sleep(5000)

    loop.run_until_complete(main())
    loop.dispose()
    assert order == [("people", 3601), ("node", 4000)]


def test_callbacks_of_one_machine_keep_their_order_and_dead_machines_run_none() -> None:
    people, node, dead = Machine("people"), Machine("node"), Machine("dead")
    loop = SimulatedLoop("1", 0, people)
    loop.machines += [node, dead]
    dead.alive = False
    order: list[str] = []

    async def main() -> None:
        for n in range(20):
            loop.call_soon(order.append, f"node {n}", context=node.context)
            loop.call_soon(order.append, "dead", context=dead.context)
        await asyncio.sleep(1)

    loop.run_until_complete(main())
    loop.dispose()
    assert order == [f"node {n}" for n in range(20)]


def test_the_table_names_every_check() -> None:
    assert set(PROMISES) == {*CHECKS, "nothing stuck", "no crash"}
