"""Options that several commands share, and how they become settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from majlis.settings import Settings

DataDir = Annotated[Path | None, typer.Option(help="Folder for the embedded database and the server's key.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="postgresql://… or sqlite:///…")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A majlis.toml other than ./majlis.toml.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Url = Annotated[str | None, typer.Option(help="The server; else MAJLIS_URL, else host and port of the settings.")]
TokenEnv = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The variable that holds the token; else MAJLIS_TOKEN, MAJLIS_OWNER_TOKEN, else the local database.",
    ),
]


@dataclass(frozen=True, slots=True)
class Where:
    """Which gateway a command is about, as far as its flags say."""

    data_dir: Path | None = None
    database_url: str | None = None
    config: Path | None = None
    url: str | None = None
    token_env: str | None = None

    def settings(self) -> Settings:
        from majlis.logs import set_up_logging
        from majlis.settings import load_settings

        flags = {"data_dir": self.data_dir, "database_url": self.database_url}
        settings = load_settings(flags, config_file=self.config)
        # A command says what it has to say itself; the log is for what goes wrong behind it.
        quiet = "error" if settings.log_level == "error" else "warning"
        set_up_logging(settings.model_copy(update={"log_level": quiet}))
        return settings
