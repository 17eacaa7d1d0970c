"""`majlis agent edit`: one setting, a whole file, or the config in an editor."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_line
from majlis.cli.running import over_http
from majlis.cli.terminal import safe_line
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from majlis.client import MajlisClient


@over_http
async def edit(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The agent's name or id.")],
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="limits.steps=5; null is the default; may be repeated."),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Its whole config as YAML, TOML or JSON.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change an agent's config; without options, in $EDITOR."""
    from majlis.cli.agent.configs import change_to, settings_of
    from majlis.cli.agent.files import read_config
    from majlis.cli.agent.find import find_agent

    if assignments and file:
        raise typer.BadParameter("give --set or --file, not both")
    wanted = read_config(file) if file else None
    agent = await find_agent(client, name)
    if assignments:
        change = settings_of(assignments)
    elif wanted is not None:
        change = change_to(wanted, agent["config"])
    else:
        change = await _edited(agent["config"])
    changed = await client.change_agent(agent["id"], config=change) if change else agent
    if as_json:
        print_json(changed)
    elif changed["config"] == agent["config"]:
        print_line(f"{safe_line(agent['name'])} stays as it was.")
    else:
        print_line(f"{safe_line(agent['name'])} is changed, from its next run on.")


async def _edited(config: dict[str, Any]) -> dict[str, Any]:
    """What was changed in the editor. A file that is refused is kept, so that no work is lost."""
    from majlis.cli.agent.configs import change_to
    from majlis.cli.agent.files import read_config

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("give --set KEY=VALUE or --file FILE, or run this in a terminal")
    handle, name = tempfile.mkstemp(".json", "majlis-agent-")
    file = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as text:
        json.dump(config, text, ensure_ascii=False, indent=2)
    await _run_editor(file)
    try:
        change = change_to(read_config(file), config)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error.message} Nothing was changed; correct it and use --file {file}.") from None
    os.unlink(file)
    return change


async def _run_editor(file: Path) -> None:
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        process = await asyncio.create_subprocess_exec(*command, str(file))
    except OSError as error:
        raise ConfigurationError(f"The editor {command[0]} cannot be started ({error.strerror}). Set EDITOR.") from None
    if await process.wait() != 0:
        raise MajlisError("editor_failed", "The editor did not end well. Nothing was changed.")
