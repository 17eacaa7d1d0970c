"""docs/cli.md names every command. `tests/docs` runs its tour."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.core import TyperGroup

from majlis.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")


def test_every_command_is_described() -> None:
    groups = typer.main.get_command(app)
    assert isinstance(groups, TyperGroup)
    for name in groups.list_commands(typer.Context(groups)):
        assert f"majlis {name}" in PAGE or f"· {name}" in PAGE, name
