"""`majlis usage` (E6)."""

from __future__ import annotations

import json

import pytest

from majlis.settings import Settings
from tests.cli.command import Command
from tests.past_runs import add_run
from tests.world import World

# The command does not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0})


async def test_usage_is_a_table_or_json(majlis: Command, world: World) -> None:
    scout, other = await world.agent("Scout"), await world.agent("Other")
    await add_run(world, scout, requests=2, input_tokens=1500, output_tokens=20, cost=0.0125)
    await add_run(world, other, requests=1, input_tokens=10)
    shown = await majlis.ok("usage")
    assert "$0.0125" in shown.out
    assert "1,500" in shown.out
    assert "Total" in shown.out
    assert "without a known price" in shown.err
    listed = json.loads((await majlis.ok("usage", "--by", "agent", "--json")).out)
    assert [(row["name"], row["cost"]) for row in listed["rows"]] == [("Scout", 0.0125), ("Other", None)]
