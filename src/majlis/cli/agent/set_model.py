"""`majlis agent set-model`: which model agents think with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_line
from majlis.cli.running import over_http
from majlis.cli.terminal import safe_line

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.client.shapes import AgentJson


@over_http
async def set_model(
    client: MajlisClient,
    names: Annotated[
        list[str], typer.Argument(metavar="[NAME] MODEL", help="Whose, and which; only which with --all.")
    ],
    everyone: Annotated[bool, typer.Option("--all", help="Every agent.")] = False,
    base_url: Annotated[str | None, typer.Option(help="A server of your own that speaks Chat Completions.")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="The server's variable that holds the key.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let one agent or all think with another model."""
    from majlis.cli.agent.configs import change_to, model_of
    from majlis.cli.agent.find import all_agents, find_agent

    if len(names) != (1 if everyone else 2):
        raise typer.BadParameter("give the agent's NAME and the MODEL, or only the MODEL with --all")
    model = {"model": model_of(names[-1], base_url, api_key_env)}
    agents = await all_agents(client) if everyone else [await find_agent(client, names[0])]
    changed: list[AgentJson] = []
    for agent in agents:
        change = change_to(model, {"model": agent["config"]["model"]})
        changed.append(await client.change_agent(agent["id"], config=change) if change else agent)
    if as_json:
        print_json(changed)
        return
    for agent in changed:
        print_line(f"{safe_line(agent['name'])} thinks with {safe_line(model_name(agent))}.")


def model_name(agent: AgentJson) -> str:
    model = agent["config"]["model"]
    if isinstance(model, str):
        return model
    where = f" at {model['baseUrl']}" if "baseUrl" in model else ""
    return f"{model['provider']}:{model['name']}{where}"
