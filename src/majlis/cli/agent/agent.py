"""`majlis agent`: agents made, shown and changed, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.agent.apply import apply
from majlis.cli.agent.cycles import cycles
from majlis.cli.agent.edit import edit
from majlis.cli.agent.set_model import model_name, set_model
from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_line, print_table, shown_time
from majlis.cli.running import over_http
from majlis.cli.terminal import safe_line

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.client.shapes import AgentJson

app = typer.Typer(rich_markup_mode=None, help="Make, list, show, change and remove agents.")

Agent = Annotated[str, typer.Argument(metavar="NAME", help="The agent's name or id.")]


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List all agents."""
    from majlis.cli.agent.find import all_agents

    found = await all_agents(client)
    if as_json:
        print_json(found)
        return
    rows = [(a["id"], a["name"], model_name(a), a["config"]["mind"], shown_time(a["updatedAt"])) for a in found]
    print_table(("Agent", "Name", "Model", "Mind", "Changed"), rows, "There are no agents yet.")


@app.command()
@over_http
async def add(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    model: Annotated[str | None, typer.Option(help="provider:name, or demo, which needs no key.")] = None,
    instructions: Annotated[str | None, typer.Option(help="What it is to do; @FILE reads a file.")] = None,
    space: Annotated[list[str] | None, typer.Option(metavar="SPACE", help="Where it is; may be repeated.")] = None,
    file: Annotated[Path | None, typer.Option(help="Its config as YAML, TOML or JSON.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make an agent and put it into spaces."""
    from majlis.cli.agent.configs import text_of
    from majlis.cli.agent.files import read_config
    from majlis.cli.lookup import find_space

    config: dict[str, Any] = read_config(file) if file else {}
    given = {"model": model, "instructions": text_of(instructions) if instructions is not None else None}
    config |= {key: value for key, value in given.items() if value is not None}
    spaces = [await find_space(client, asked) for asked in space or ()]
    made = await client.create_agent(name, config)
    for each in spaces:
        await client.add_member(each["id"], made["id"])
    if as_json:
        print_json(made)
        return
    there = f", in {', '.join(safe_line(each['name']) for each in spaces)}" if spaces else ""
    print_line(f"Made {safe_line(made['name'])}, {made['id']}, with {safe_line(model_name(made))}{there}.")


@app.command()
@over_http
async def show(client: MajlisClient, name: Agent, as_json: AsJson = False) -> None:
    """Show an agent's config, what waits for it, and its latest runs."""
    from majlis.cli.agent.find import find_agent
    from majlis.cli.runs import print_runs

    agent = await find_agent(client, name)
    if as_json:
        print_json(agent)
        return
    waiting = await client.list_inbox(agent["id"], 200)
    print_table(("Agent", agent["id"]), [*_facts(agent), ("Inbox", str(len(waiting)))], "")
    print_line("")
    print_runs((await client.list_runs(agent["id"], limit=5))["runs"])


@app.command()
@over_http
async def remove(client: MajlisClient, name: Agent, as_json: AsJson = False) -> None:
    """Remove an agent: it leaves all spaces, and what it said stays."""
    from majlis.cli.agent.find import find_agent

    agent = await find_agent(client, name)
    await client.delete_agent(agent["id"])
    if as_json:
        print_json({"id": agent["id"], "removed": True})
    else:
        print_line(f"{safe_line(agent['name'])} is removed.")


app.command()(set_model)
app.command()(cycles)
app.command()(edit)
app.command()(apply)


def _facts(agent: AgentJson) -> list[tuple[str, str]]:
    config = agent["config"]
    tools = [each["name"] for each in (*config["tools"], *config["mcp"])]
    return [
        ("Name", agent["name"]),
        ("Instructions", config["instructions"] or "–"),
        ("Model", model_name(agent)),
        ("Mind", config["mind"]),
        ("Tools", ", ".join(tools) or "–"),
        ("Made", shown_time(agent["createdAt"])),
        ("Changed", f"{shown_time(agent['updatedAt'])}, version {agent['version']}"),
    ]
