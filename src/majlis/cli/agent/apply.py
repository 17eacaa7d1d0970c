"""`majlis agent apply`: agents as files describe them. Everything is checked before anything is changed, and applying
the same files again changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_table
from majlis.cli.running import over_http
from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.cli.agent.files import Described
    from majlis.client import MajlisClient
    from majlis.client.shapes import AgentJson, SpaceJson


class Applied(TypedDict):
    name: str
    outcome: Literal["created", "changed", "unchanged"]
    # Keys of the config that are new or different, and spaces that it was put into.
    settings: list[str]
    spaces: list[str]


@over_http
async def apply(
    client: MajlisClient,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="YAML, TOML or JSON; an agent, or agents: [].")],
    create_spaces: Annotated[bool, typer.Option("--create-spaces", help="Make spaces that do not exist.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make agents what files say: created, changed or left alone."""
    from majlis.cli.agent.files import read_agents
    from majlis.cli.agent.find import all_agents
    from majlis.entities.names import name_key

    wanted = read_agents(files)
    present = {name_key(agent["name"]): agent for agent in await all_agents(client)}
    spaces = await _spaces(client, wanted, create_spaces, dry_run)
    done = [await _apply(client, each, present.get(name_key(each.name)), spaces, dry_run) for each in wanted]
    if as_json:
        print_json(done)
        return
    rows = [(each["name"], each["outcome"], ", ".join(each["settings"]), ", ".join(each["spaces"])) for each in done]
    print_table(("Agent", "Would be" if dry_run else "Is", "Settings", "Put into"), rows, "The files name no agent.")


async def _spaces(
    client: MajlisClient, wanted: list[Described], create: bool, dry_run: bool
) -> dict[str, SpaceJson | None]:
    """Each space that is named; None for one that a dry run would make."""
    from majlis.cli.lookup import find_space

    found: dict[str, SpaceJson | None] = {}
    missing: list[str] = []
    for name in dict.fromkeys(name for agent in wanted for name in agent.spaces):
        try:
            found[name] = await find_space(client, name)
        except NotFound as error:
            if error.code != "unknown_space" or not create:
                hint = " Or make it with --create-spaces." if error.code == "unknown_space" else ""
                raise NotFound(error.code, f"{error.message}{hint}") from None
            missing.append(name)
    # Only now that every name is known to be good.
    for name in missing:
        found[name] = None if dry_run else await client.create_space(name)
    return found


async def _apply(
    client: MajlisClient,
    wanted: Described,
    present: AgentJson | None,
    spaces: dict[str, SpaceJson | None],
    dry_run: bool,
) -> Applied:
    from majlis.cli.agent.configs import change_to

    change = change_to(wanted.config, present["config"] if present else {})
    renamed = present is not None and present["name"] != wanted.name
    joining = [name for name in wanted.spaces if not _is_in(present, spaces[name])]
    agent = present
    if not dry_run:
        agent = await _made(client, wanted, present, change, renamed)
        for name in joining:
            await _join(client, spaces[name], agent)
    altered = bool(change or renamed or joining)
    return {
        "name": wanted.name,
        "outcome": "created" if present is None else "changed" if altered else "unchanged",
        "settings": (["name"] if renamed else []) + sorted(change if present else ()),
        "spaces": joining,
    }


async def _made(
    client: MajlisClient, wanted: Described, present: AgentJson | None, change: dict[str, Any], renamed: bool
) -> AgentJson:
    if present is None:
        return await client.create_agent(wanted.name, wanted.config)
    if not change and not renamed:
        return present
    return await client.change_agent(present["id"], wanted.name if renamed else None, change or None)


async def _join(client: MajlisClient, space: SpaceJson | None, agent: AgentJson) -> None:
    assert space is not None, "spaces that are missing have been made"
    await client.add_member(space["id"], agent["id"])


def _is_in(agent: AgentJson | None, space: SpaceJson | None) -> bool:
    return agent is not None and space is not None and agent["id"] in {member["id"] for member in space["members"]}
