"""`majlis person`, and spaces whose names are not unique."""

from __future__ import annotations

import httpx
import pytest

from tests.cli.command import Command
from tests.world import World

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_a_person_is_added_invited_and_removed(majlis: Command, world: World) -> None:
    added = await majlis.ok("person", "add", "Sara", "--role", "admin")
    assert added.out.startswith("Added Sara (ent_")
    assert "majlis person invite 'Sara'" in added.err
    invited = (await majlis.ok("person", "invite", "sara")).out.strip()
    assert invited.startswith(f"{world.base_url}/sign-in/")
    async with httpx.AsyncClient() as browser:
        assert (await browser.get(invited)).status_code == 200
    listed = (await majlis.ok("person", "list", "--json")).json
    assert [(each["name"], each["role"]) for each in listed] == [("Owner", "owner"), ("Sara", "admin")]
    assert "is taken" in await majlis.line("person", "add", "SARA", code=1)
    assert (await majlis.ok("person", "remove", "Sara")).out == "Removed Sara.\n"
    assert len((await majlis.ok("person", "list")).out.splitlines()) == 2
    told = await majlis.line("person", "invite", "Sara", code=1)
    assert told.startswith("There is no person, agent or service named 'Sara'.")


async def test_an_agent_is_not_a_person_and_can_be_paused(majlis: Command, world: World) -> None:
    await world.agent("Scout")
    assert "Scout is an agent, not a person" in await majlis.line("person", "remove", "Scout", code=1)
    assert (await majlis.ok("agent", "pause", "Scout")).out == "Paused Scout.\n"
    assert (await majlis.ok("agent", "resume", "Scout")).out == "Resumed Scout.\n"


async def test_a_space_is_renamed_and_removed_and_its_name_is_not_taken_twice(majlis: Command, world: World) -> None:
    first = (await majlis.ok("space", "create", "Research", "--json")).json["id"]
    told = await majlis.line("space", "create", "research", code=1)
    assert told.startswith(f"You are already in a space named Research ({first}).")
    second = (await majlis.ok("space", "create", "Research", "--duplicate", "--json")).json["id"]
    told = await majlis.line("space", "show", "Research", code=1)
    assert told.startswith("2 spaces are named 'Research': ")
    assert first in told
    assert f"{second} (1 member, created " in told
    assert told.endswith("Use the id.")
    assert (await majlis.ok("space", "rename", second, "Findings")).out == f"Renamed Research to Findings ({second}).\n"
    assert (await majlis.ok("space", "show", "Research", "--json")).json["id"] == first
    assert "already" in await majlis.line("space", "rename", "Findings", "RESEARCH", code=1)
    assert (await majlis.ok("space", "remove", "Findings")).out == f"Removed Findings ({second}).\n"
    told = await majlis.line("space", "show", "Nowhere", code=1)
    assert told == "There is no space named 'Nowhere'. List them with: majlis space list"
