"""`majlis agent edit`: changes single settings, replaces the config by a file, or opens it in an editor."""

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

from majlis.cli.agent.files import change_to, read_config, settings_of
from majlis.cli.command import Agent, AsJson, over_http
from majlis.cli.lookup import find_agent
from majlis.cli.terminal import print_result
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from majlis.client import MajlisClient


@over_http
async def edit(
    client: MajlisClient,
    name: Agent,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting, like limits.steps=5; null restores the default."),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="New config as YAML, TOML or JSON.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change an agent's config.

    --set can be repeated. Without options, the config opens in $EDITOR.
    """
    if assignments and file:
        raise typer.BadParameter("Use either --set or --file.")
    wanted = read_config(file) if file else None
    agent = await find_agent(client, name)
    if assignments:
        change = settings_of(assignments)
    elif wanted is not None:
        change = change_to(wanted, agent["config"])
    else:
        change = await _edited(agent["config"])
    changed = await client.change_agent(agent["id"], config=change) if change else agent
    updated = "updated. The change applies from its next run"
    outcome = "unchanged" if changed["config"] == agent["config"] else updated
    print_result(changed, as_json, f"{agent['name']} is {outcome}.")


async def _edited(config: dict[str, Any]) -> dict[str, Any]:
    """The change that was made in the editor. An invalid file is kept, so that no work is lost."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("Use --set KEY=VALUE or --file FILE, or run this in a terminal.")
    handle, name = tempfile.mkstemp(".json", "majlis-agent-")
    file = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as text:
        json.dump(config, text, ensure_ascii=False, indent=2)
    await _run_editor(file)
    try:
        change = change_to(read_config(file), config)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error.message} Nothing was changed. Fix it and use --file {file}.") from None
    os.unlink(file)
    return change


async def _run_editor(file: Path) -> None:
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    try:
        process = await asyncio.create_subprocess_exec(*command, str(file))
    except OSError as error:
        raise ConfigurationError(f"Cannot start the editor {command[0]}: {error.strerror}. Set EDITOR.") from None
    if await process.wait() != 0:
        raise MajlisError("editor_failed", "The editor failed. Nothing was changed.")
