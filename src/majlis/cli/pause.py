"""`majlis pause` and `majlis resume`: stops agents, and lets them continue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import Agent, AsJson, over_http
from majlis.cli.lookup import find_agent, find_space
from majlis.cli.terminal import print_result
from majlis.errors import ConfigurationError

if TYPE_CHECKING:
    from majlis.client import MajlisClient

_Agent = Annotated[str | None, typer.Argument(metavar="[AGENT]", help="Name or id of the agent.")]
_InSpace = Annotated[str | None, typer.Option("--space", metavar="SPACE", help="All agents in this space.")]
_All = Annotated[bool, typer.Option("--all", help="All agents of the gateway.")]


@over_http
async def pause(
    client: MajlisClient, agent: _Agent = None, space: _InSpace = None, every: _All = False, as_json: AsJson = False
) -> None:
    """Pause an agent, the agents in a space, or all agents. Their events are kept."""
    await _change(client, True, agent, space, every, as_json)


@over_http
async def resume(
    client: MajlisClient, agent: _Agent = None, space: _InSpace = None, every: _All = False, as_json: AsJson = False
) -> None:
    """Resume paused agents."""
    await _change(client, False, agent, space, every, as_json)


@over_http
async def pause_agent(client: MajlisClient, name: Agent, as_json: AsJson = False) -> None:
    """Pause an agent. Its events are kept."""
    await _change(client, True, name, None, False, as_json)


@over_http
async def resume_agent(client: MajlisClient, name: Agent, as_json: AsJson = False) -> None:
    """Resume a paused agent."""
    await _change(client, False, name, None, False, as_json)


async def _change(
    client: MajlisClient, paused: bool, agent: str | None, space: str | None, every: bool, as_json: bool
) -> None:
    if sum((agent is not None, space is not None, every)) != 1:
        raise ConfigurationError("Give an agent, --space SPACE or --all.")
    done = "Paused" if paused else "Resumed"
    if agent is not None:
        found = await find_agent(client, agent)
        changed = await (client.pause_agent(found["id"]) if paused else client.resume_agent(found["id"]))
        print_result(changed, as_json, f"{done} {found['name']}.")
    elif space is not None:
        place = await find_space(client, space)
        changed = await (client.pause_space(place["id"]) if paused else client.resume_space(place["id"]))
        print_result(changed, as_json, f"{done} the agents in {place['name']}.")
    else:
        print_result(await (client.pause_all() if paused else client.resume_all()), as_json, f"{done} all agents.")
