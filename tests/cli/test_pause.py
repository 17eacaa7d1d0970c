"""E7: `majlis pause` and `majlis resume`, over HTTP."""

from __future__ import annotations

import pytest

from tests.cli.command import Command
from tests.world import World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_e7_agents_are_paused_and_resumed_by_name(majlis: Command, world: World) -> None:
    scout = await world.agent("Scout")
    space = await world.owner.create_space("Lobby", scout)
    assert (await majlis.ok("pause", "scout")).out == "Paused Scout.\n"
    assert (await majlis.ok("agent", "show", "Scout", "--json")).json["paused"]
    assert (await majlis.ok("resume", "Scout", "--json")).json == {"paused": False}
    assert (await majlis.ok("pause", "--space", "Lobby")).out == "Paused the agents in Lobby.\n"
    assert (await world.owner.space(space))["paused"]
    assert (await majlis.ok("resume", "--space", "Lobby")).out == "Resumed the agents in Lobby.\n"
    assert (await majlis.ok("pause", "--all")).out == "Paused all agents.\n"
    assert (await majlis.ok("resume", "--all")).out == "Resumed all agents.\n"
    assert await majlis.line("pause", code=2) == "Give an agent, --space SPACE or --all."
    assert await majlis.line("resume", "Scout", "--all", code=2) == "Give an agent, --space SPACE or --all."
