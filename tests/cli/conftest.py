"""The command in an empty folder, with its own database, and with a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from majlis.settings import Settings
from tests.cli.command import Command
from tests.cli.processes import Commands
from tests.ports import free_port
from tests.world import World


@pytest.fixture
def bare(tmp_path: Path, commands: Commands) -> Command:
    """In an empty folder on a machine where nothing is set up and nothing listens."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return Command(folder, commands, MAJLIS_PORT=str(free_port()))


@pytest.fixture
def local(bare: Command, settings: Settings) -> Command:
    """With a database, without a server."""
    return bare.given(MAJLIS_DATABASE_URL=settings.database_url, MAJLIS_DATA_DIR=str(settings.data_dir))


@pytest.fixture
def majlis(bare: Command, world: World) -> Command:
    """With the address of a server and the owner's token."""
    return bare.given(MAJLIS_URL=world.base_url, MAJLIS_TOKEN=world.owner.token)
