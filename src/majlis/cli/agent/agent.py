"""`majlis agent`: list, add, show, remove, set-model, cycles and edit, over HTTP."""

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

from majlis.cli.agent.apply import apply
from majlis.cli.agent.files import change_to, model_of, read_config, settings_of, text_of
from majlis.cli.command import Agent, AsJson, over_http
from majlis.cli.lookup import all_agents, find_agent, find_space
from majlis.cli.model import connected_choice, default_choice, note_problem
from majlis.cli.pause import pause_agent, resume_agent
from majlis.cli.runs import COLUMNS, run_row
from majlis.cli.terminal import local_time, print_json, print_line, print_list, print_result, print_table, safe_line
from majlis.errors import ConfigurationError, MajlisError

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Manage agents.")


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List all agents."""
    found = await all_agents(client)
    rows = [(a["id"], a["name"], _model(a), a["config"]["mind"], local_time(a["updatedAt"])) for a in found]
    print_list(found, as_json, ("ID", "Name", "Model", "Mind", "Updated"), rows, "There are no agents.")


@app.command()
@over_http
async def add(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new agent.")],
    model: Annotated[
        str | None, typer.Option(help="Name of a connected model, provider:model, or demo, which needs no API key.")
    ] = None,
    instructions: Annotated[str | None, typer.Option(help="Instructions; @FILE reads them from a file.")] = None,
    space: Annotated[
        list[str] | None, typer.Option(metavar="SPACE", help="Space to add it to; can be repeated.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Config as YAML, TOML or JSON.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create an agent and add it to spaces."""
    config: dict[str, Any] = read_config(file) if file else {}
    named = model is not None and model != "demo" and ":" not in model
    chosen = await connected_choice(client, model) if model is not None and named else model
    given = {"model": chosen, "instructions": text_of(instructions) if instructions is not None else None}
    config |= {key: value for key, value in given.items() if value is not None}
    if "model" not in config and (preferred := await default_choice(client)) is not None:
        config["model"] = preferred
    spaces = [await find_space(client, asked) for asked in space or ()]
    made = await client.create_agent(name, config)
    for each in spaces:
        await client.add_member(each["id"], made["id"])
    added = f" and added it to {', '.join(each['name'] for each in spaces)}" if spaces else ""
    print_result(made, as_json, f"Created agent {made['name']} ({made['id']}) with the model {_model(made)}{added}.")


@app.command()
@over_http
async def show(client: MajlisClient, name: Agent, as_json: AsJson = False) -> None:
    """Show an agent's config, inbox size and latest runs."""
    agent = await find_agent(client, name)
    if as_json:
        print_json(agent)
        return
    config, inbox = agent["config"], await client.list_inbox(agent["id"], 200)
    facts = [
        ("Name", agent["name"]),
        ("Instructions", config["instructions"] or "–"),
        ("Model", _model(agent)),
        ("Mind", config["mind"]),
        ("Tools", ", ".join(each["name"] for each in (*config["tools"], *config["mcp"])) or "–"),
        ("Created", local_time(agent["createdAt"])),
        ("Updated", f"{local_time(agent['updatedAt'])}, version {agent['version']}"),
        ("Inbox", str(len(inbox))),
    ]
    print_table(("ID", agent["id"]), facts)
    print_line("")
    print_table(COLUMNS, map(run_row, (await client.list_runs(agent["id"], limit=5))["runs"]), "No runs yet.")


@app.command()
@over_http
async def remove(client: MajlisClient, name: Agent, as_json: AsJson = False) -> None:
    """Remove an agent from the gateway. Its messages stay."""
    agent = await find_agent(client, name)
    await client.delete_agent(agent["id"])
    print_result({"id": agent["id"], "removed": True}, as_json, f"Removed {agent['name']}.")


@app.command()
@over_http
async def set_model(
    client: MajlisClient,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME] MODEL",
            help="Agent and model, or only the model with --all or --demo. The model is a name from `majlis model "
            "list`, provider:model, or demo.",
        ),
    ],
    everyone: Annotated[bool, typer.Option("--all", help="Change all agents.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Change the agents that have the model demo.")] = False,
    base_url: Annotated[str | None, typer.Option(help="URL of a server with a Chat Completions API.")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="Environment variable on the server with the API key.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(metavar="secret:NAME", help="A stored secret; see majlis secret.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change the model of one agent, of all agents, or of the demo agents. Warns if the model cannot be used."""
    if len(names) != (1 if everyone or demo else 2):
        raise typer.BadParameter("Give the NAME of the agent and the MODEL, or only the MODEL with --all or --demo.")
    named = base_url is None and api_key_env is None and api_key is None and ":" not in names[-1]
    chosen = await connected_choice(client, names[-1]) if named and names[-1] != "demo" else names[-1]
    model = {"model": model_of(chosen, base_url, api_key_env, api_key) if isinstance(chosen, str) else chosen}
    agents = await all_agents(client) if everyone or demo else [await find_agent(client, names[0])]
    if demo:
        agents = [each for each in agents if each["config"]["model"] == "demo"]
    changed: list[shapes.AgentJson] = []
    for agent in agents:
        change = change_to(model, {"model": agent["config"]["model"]})
        changed.append(await client.change_agent(agent["id"], config=change) if change else agent)
    if as_json:
        print_json(changed)
    else:
        for agent in changed:
            print_line(safe_line(f"{agent['name']} now uses {_model(agent)}."))
    await note_problem(client, model["model"])


@app.command()
@over_http
async def cycles(
    client: MajlisClient,
    name: Agent,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of cycles.")] = 20,
    before: Annotated[int | None, typer.Option(min=1, help="Only cycles before this number.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the cycles of a consciousness, latest first.

    --json includes everything that was said and done in them.
    """
    found = await client.list_cycles((await find_agent(client, name))["id"], limit, before)
    rows = [
        (str(each["n"]), local_time(each["createdAt"]), each["runId"], str(each["tokens"]), each["summary"] or "–")
        for each in found["cycles"]
    ]
    print_list(found, as_json, ("Cycle", "Ended", "Run", "Tokens", "Summary"), rows, "There are no cycles yet.")


@app.command()
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


app.command()(apply)
app.command("pause")(pause_agent)
app.command("resume")(resume_agent)


async def _edited(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the change that was made in the editor. Keeps an invalid file, so that no work is lost."""
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


def _model(agent: shapes.AgentJson) -> str:
    model = agent["config"]["model"]
    if isinstance(model, str):
        return model
    where = f" at {model['baseUrl']}" if "baseUrl" in model else ""
    return f"{model['provider']}:{model['name']}{where}"
