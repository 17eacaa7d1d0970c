"""`majlis tool`: what tools there are, and one of them tried out, on the machine of the gateway."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir, Where
from majlis.cli.printing import note, print_json, print_table
from majlis.cli.running import run_async

if TYPE_CHECKING:
    from majlis.cli.agent_tools import ToolJson

app = typer.Typer(rich_markup_mode=None, help="List the tools of agents, and try one out.")


@app.command("list")
def list_(
    agent: Annotated[str | None, typer.Argument(metavar="AGENT", help="Its name or id; else for all.")] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """List the tools of an agent as its model is told of them. Its MCP servers are asked for theirs."""
    tools, problems = run_async(_listed(Where(data_dir, database_url, config), agent))
    if as_json:
        print_json({"tools": tools, "problems": problems})
        return
    rows = [(tool["name"], tool["type"], _first_line(tool["description"])) for tool in tools]
    print_table(("Tool", "Type", "What it does"), rows, "There are no tools.")
    for problem in problems:
        note(problem)


@app.command("test")
def try_out(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The name or id of the agent that has it.")],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Its name, as `majlis tool list AGENT` shows it.")],
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Its input as a JSON object.")] = "{}",
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """Call one tool as a run would, and print what the model would read.

    The call is real: whatever the tool does, it does. It runs here, with the settings and variables of this machine.
    """
    result, state, seconds = run_async(_tested(Where(data_dir, database_url, config), agent, tool, input))
    if as_json:
        print_json({"tool": tool, "state": state, "seconds": round(seconds, 3), "result": result})
    else:
        print_json(result)
        note(f"{tool} was called and is {state} after {seconds:.2f} s.")
    if state == "error":
        raise typer.Exit(1)


async def _listed(where: Where, agent: str | None) -> tuple[list[ToolJson], list[str]]:
    from majlis.cli.agent_tools import everybodys, opened_box, quietly

    if agent is None:
        return everybodys(quietly(where))
    async with opened_box(quietly(where), agent) as box:
        return await box.listed()


async def _tested(where: Where, agent: str, name: str, input: str) -> tuple[Any, str, float]:
    from majlis.cli.agent_tools import opened_box, quietly
    from majlis.errors import ConfigurationError, Invalid
    from majlis.runs.calls.call import outcome
    from majlis.store import ids
    from majlis.tool_decorator import ToolContext

    async with opened_box(quietly(where), agent) as box:
        found = await box.find(name)
        if not found.outside:
            why = "asks people in a space" if found.own else "is built in and acts for a run"
            raise Invalid("built_in_tool", f"{name} {why}: talk to {box.agent_name} instead.")
        try:
            given = found.parse(input)
        except Invalid as error:
            raise ConfigurationError(error.message) from None
        run_id = ids.new("run")
        context = ToolContext(box.agent_id, box.agent_name, run_id, None, None, f"{run_id}:test", note)
        began = time.perf_counter()
        result, state = await outcome(found, context, given, box.secrets_in(name, input))
        return result, state, time.perf_counter() - began


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
