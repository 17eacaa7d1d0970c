"""`majlis prove` on the command line."""

from __future__ import annotations

from tests.cli.command import Command


async def test_the_command_prints_a_table_and_replays_a_seed(bare: Command) -> None:
    ran = await bare.ok("prove", "--schedules", "2", "--seed", "3", "--jobs", "2")
    assert "answered once" in ran.out
    assert "2 schedules in " in ran.out
    assert ran.out.endswith("Every promise was kept.\n")
    counted = (await bare.ok("prove", "--schedules", "1", "--seed", "3", "--json")).json
    assert (counted["schedules"], counted["broken"]) == (1, [])
    replayed = await bare.ok("prove", "--seed", "3", "--trace")
    assert "node 1 life 1" in replayed.out
