"""`majlis mcp`: is an MCP server there, and what does it offer?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.command import AsJson, ConfigFile, DatabaseUrl, DataDir, Where
from majlis.cli.printing import note, print_json, print_table
from majlis.cli.running import run_async

if TYPE_CHECKING:
    from majlis.agents.config.mcp import McpServer
    from majlis.settings import Settings
    from majlis.tools.toolbox import Allowed, Tools

app = typer.Typer(rich_markup_mode=None, help="Try out MCP servers.")


@app.callback()
def mcp() -> None:
    """Try out MCP servers."""


@app.command("test")
def try_out(
    server: Annotated[
        list[str] | None, typer.Argument(metavar="URL | -- COMMAND…", help="Its address, or the command to start it.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="All servers of this agent instead.")] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    config: ConfigFile = None,
) -> None:
    """Connect to an MCP server and list its tools; none of them is called.

    A server named here is reached even if the settings do not let agents reach it yet; you are told then.
    """
    found = run_async(_tested(Where(data_dir, database_url, config), server or [], agent))
    if as_json:
        print_json(found)
    elif not found:
        note(f"{agent} has no MCP servers.")
    else:
        for each in found:
            _print(each)
    if any(each["problem"] for each in found):
        raise typer.Exit(1)


def _print(found: dict[str, Any]) -> None:
    if found["problem"]:
        note(f"{found['server']} cannot be used: {found['problem']}")
        return
    rows = [(tool["name"], tool["description"].strip().partition("\n")[0][:200]) for tool in found["tools"]]
    print_table(("Tool", "What it does"), rows, f"{found['server']} answers, and offers no tools.")
    if found["notAllowed"]:
        note(f"Agents cannot use it yet: {found['notAllowed']}")


async def _tested(where: Where, words: list[str], agent: str | None) -> list[dict[str, Any]]:
    from majlis.errors import ConfigurationError

    if (agent is None) == (not words):
        raise ConfigurationError("Name one server: its URL, -- and its command, or --agent NAME for those of an agent.")
    from majlis.cli.agent_tools import opened_box, quietly
    from majlis.tools.toolbox import Tools

    settings = quietly(where)
    if agent is not None:
        async with opened_box(settings, agent) as box:
            return [await _asked(box.tools, each, None) for each in box.config.mcp]
    server = _server(words)
    tools = Tools(_for_now(settings, server))
    try:
        return [await _asked(tools, server, _what_forbids(settings, server))]
    finally:
        await tools.close()


def _what_forbids(settings: Settings, server: McpServer) -> str | None:
    from majlis.errors import MajlisError
    from majlis.tools.mcp.routes import find_route
    from majlis.tools.reach.reach import Reach
    from majlis.tools.reach.secrets import Secrets

    reach = Reach(settings.tool_hosts, settings.tool_private_hosts)
    try:
        find_route(server, reach, Secrets(settings.tool_env), frozenset(settings.mcp_commands))
    except MajlisError as error:
        return error.message
    return None


def _server(words: list[str]) -> McpServer:
    from majlis.agents.config.config import parse_config
    from majlis.errors import ConfigurationError, Invalid

    by_url = len(words) == 1 and "://" in words[0]
    described = {"name": "server", "url": words[0]} if by_url else {"name": "server", "command": words}
    try:
        return parse_config({"mcp": [described]}).mcp[0]
    except Invalid as error:
        errors: Any = error.details["errors"]
        raise ConfigurationError(f"{words[0]} is no server: it {errors[0]['message']}.") from None


def _for_now(settings: Settings, server: McpServer) -> Allowed:
    """Who types it means it."""
    from majlis.tools.toolbox import Allowed
    from majlis.tools.reach.target import parse_target

    if server.url is None:
        return Allowed(commands=server.argv[:1])
    target = parse_target(server.url)
    host = f"[{target.host}]" if ":" in target.host else target.host
    return Allowed(private_hosts=[f"{host}:{target.port}"], env=settings.tool_env)


async def _asked(tools: Tools, server: McpServer, not_allowed: str | None) -> dict[str, Any]:
    problem = await tools.servers.open(server)
    offered = {} if problem else tools.servers.offered(server)
    listed = [
        {"name": each.tool, "calledAs": name, "description": each.spec.description, "inputSchema": each.spec.schema}
        for name, each in offered.items()
    ]
    shown = server.url or " ".join(server.argv)
    return {"server": shown, "problem": problem, "notAllowed": not_allowed, "tools": listed}
