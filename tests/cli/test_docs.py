"""docs/cli.md names every command, and its tour runs unchanged."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from majlis.cli.main import app
from majlis.settings import Settings
from tests.world import World

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_tour_runs(world: World, settings: Settings, tmp_path: Path) -> None:
    [tour] = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    environment = os.environ | {
        "MAJLIS_URL": world.base_url,
        "MAJLIS_DATABASE_URL": settings.database_url,
        "MAJLIS_DATA_DIR": str(settings.data_dir),
        "MAJLIS_PORT": world.base_url.rpartition(":")[2],
    }
    # As on a new gateway: the tour must not collide with what it starts with.
    await world.gateway.create_lobby()
    script = f'majlis() {{ "{sys.executable}" -m majlis "$@"; }}\n{tour}'
    run = await asyncio.create_subprocess_exec(
        "bash", "-e", "-c", script, cwd=tmp_path, env=environment, stdin=asyncio.subprocess.DEVNULL
    )
    assert await run.wait() == 0
    named = {space["name"]: space for space in await world.owner.ok("GET", "/api/spaces")}
    assert set(named) == {"Lobby", "Research", "Team"}
    space = named["Research"]
    said = (await world.owner.history(space["id"]))["messages"]
    assert [message["text"] for message in said] == ["Hello, everyone", "The sizes", "Two\nlines"]


def test_every_command_is_described() -> None:
    groups = typer.main.get_command(app)
    assert isinstance(groups, TyperGroup)
    for name in groups.list_commands(typer.Context(groups)):
        assert f"majlis {name}" in PAGE or f"· {name}" in PAGE, name
