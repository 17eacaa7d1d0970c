"""Options that several commands share, and how they become settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[Path | None, typer.Option(help="Folder for the embedded database and the server's key.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="postgresql://… or sqlite:///…")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A majlis.toml other than ./majlis.toml.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
