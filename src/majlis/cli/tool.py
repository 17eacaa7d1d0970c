"""`majlis tool` and `majlis mcp`: lists and tests tools and MCP servers, on the machine of the gateway."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from majlis.cli.command import AsJson, Where, on_database
from majlis.cli.terminal import ask_hidden, note, print_json, print_result, print_table
from majlis.errors import ConfigurationError

app = typer.Typer(rich_markup_mode=None, help="List and test the tools of agents.")
mcp_app = typer.Typer(rich_markup_mode=None, help="Test MCP servers, and sign in to them.")


@app.command("list")
@on_database
async def list_(
    where: Where,
    agent: Annotated[str | None, typer.Argument(metavar="AGENT", help="Name or id of the agent.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the tools that an agent's model is offered.

    Contacts the agent's MCP servers. Without AGENT, lists the built-in tools and the Python functions that a config
    may name.
    """
    from majlis.cli.agent_tools import available_tools, opened_tools

    # Errors are printed as part of the result, so they are not logged again.
    settings = where.settings(log_level="error")
    if agent is None:
        tools, problems = available_tools(settings)
    else:
        async with opened_tools(settings, agent) as found:
            tools, problems = await found.listed()
    if as_json:
        print_json({"tools": tools, "problems": problems})
        return
    rows = [(tool["name"], tool["type"], _first_line(tool["description"])) for tool in tools]
    print_table(("Tool", "Type", "Description"), rows, "There are no tools.")
    for problem in problems:
        note(problem)


@app.command("test")
@on_database
async def call(
    where: Where,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Name or id of the agent.")],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Name of the tool, as in `majlis tool list AGENT`.")],
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Input as a JSON object.")] = "{}",
    as_json: AsJson = False,
) -> None:
    """Call a tool as a run would, and print the result.

    The call is real. It uses the settings and environment variables of this machine.
    """
    from majlis.cli.agent_tools import opened_tools

    async with opened_tools(where.settings(log_level="error"), agent) as found:
        result, state, seconds = await found.call(tool, input)
    if as_json:
        print_json({"tool": tool, "state": state, "seconds": round(seconds, 3), "result": result})
    else:
        print_json(result)
        note(f"Called {tool} in {seconds:.2f} s; state: {state}.")
    if state == "error":
        raise typer.Exit(1)


@mcp_app.callback()
def mcp() -> None:
    """Test MCP servers, and sign in to them."""


@mcp_app.command("test")
@on_database
async def probe(
    where: Where,
    server: Annotated[
        list[str] | None, typer.Argument(metavar="URL | -- COMMAND…", help="URL of the server, or command to start it.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Test all servers of this agent.")] = None,
    as_json: AsJson = False,
) -> None:
    """Connect to an MCP server and list its tools, without calling any.

    A server that you name here is contacted even if the settings do not allow it for agents.
    """
    from majlis.cli.agent_tools import probe_server, probe_servers

    if agent is not None and not server:
        found = await probe_servers(where.settings(log_level="error"), agent)
    elif server and agent is None:
        found = [await probe_server(where.settings(log_level="error"), server)]
    else:
        raise ConfigurationError("Name one server by its URL, or by -- and its command; or use --agent NAME.")
    if as_json:
        print_json(found)
    for each in () if as_json else found:
        if each["problem"]:
            note(f"{each['server']} cannot be used: {each['problem']}")
            continue
        rows = [(tool["name"], _first_line(tool["description"])) for tool in each["tools"]]
        print_table(("Tool", "Description"), rows, f"{each['server']} is running, but has no tools.")
        if each["notAllowed"]:
            note(f"Agents cannot use it yet: {each['notAllowed']}")
    if not found and not as_json:
        note(f"{agent} has no MCP servers.")
    if any(each["problem"] for each in found):
        raise typer.Exit(1)


@mcp_app.command("sign-in")
@on_database
async def sign_in(
    where: Where,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, which configs use as oauth: NAME.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="URL of the server.")],
    scope: Annotated[str | None, typer.Option(help="Scopes to ask for.  [default: what the server asks for]")] = None,
    client_id: Annotated[
        str | None,
        typer.Option(help="ID of a client that you have registered. Its secret comes from a prompt or stdin."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start to sign the gateway in to a remote MCP server (OAuth), and print the link to open.

    The gateway must be running and reachable at its public_url, to which the browser returns.
    """
    from majlis.cli.agent_tools import begin_sign_in

    secret = None
    if client_id is not None:
        secret = ask_hidden("Client secret") if sys.stdin.isatty() else sys.stdin.read().removesuffix("\n")
    settings = where.settings(log_level="error")
    begun = await begin_sign_in(settings, name, url, scope, client_id, secret or None)
    told = f"Open this link within 15 minutes, and allow the access:\n{begun['authorizationUrl']}"
    print_result(begun, as_json, told)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
