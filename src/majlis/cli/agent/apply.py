"""`majlis agent apply`: creates and changes agents until they match the files. Everything is checked before anything is
changed, and applying the same files again changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from majlis.cli.agent.files import Described, change_to, read_agents
from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import LIST_HINT, all_agents, find_space
from majlis.cli.terminal import print_list
from majlis.entities.names import name_key
from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes


class Applied(TypedDict):
    name: str
    outcome: Literal["created", "changed", "unchanged"]
    # Keys of the config that are new or different.
    settings: list[str]
    # Spaces that the agent was added to.
    spaces: list[str]


@over_http
async def apply(
    client: MajlisClient,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="YAML, TOML or JSON: an agent, or a list under agents.")
    ],
    create_spaces: Annotated[bool, typer.Option("--create-spaces", help="Create spaces that do not exist.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report the changes, but make none.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create and change agents to match files."""
    wanted = read_agents(files)
    present = {name_key(agent["name"]): agent for agent in await all_agents(client)}
    spaces = await _spaces(client, wanted, create_spaces, dry_run)
    done = [await _apply(client, each, present.get(name_key(each.name)), spaces, dry_run) for each in wanted]
    rows = [(each["name"], each["outcome"], ", ".join(each["settings"]), ", ".join(each["spaces"])) for each in done]
    columns = ("Agent", "Dry run" if dry_run else "Result", "Settings", "Added to")
    print_list(done, as_json, columns, rows, "The files contain no agents.")


async def _spaces(
    client: MajlisClient, wanted: list[Described], create: bool, dry_run: bool
) -> dict[str, shapes.SpaceJson | None]:
    """Each space by its name; None for a space that a dry run would create."""
    found: dict[str, shapes.SpaceJson | None] = {}
    missing: list[str] = []
    for name in dict.fromkeys(name for agent in wanted for name in agent.spaces):
        try:
            found[name] = await find_space(client, name)
        except NotFound as error:
            if error.code != "unknown_space" or not create:
                hint = " Use --create-spaces to create it." if error.code == "unknown_space" else ""
                raise NotFound(error.code, f"{error.message.partition(LIST_HINT)[0]}{hint}") from None
            missing.append(name)
    # Created only after all names are checked.
    for name in missing:
        found[name] = None if dry_run else await client.create_space(name)
    return found


async def _apply(
    client: MajlisClient,
    wanted: Described,
    present: shapes.AgentJson | None,
    spaces: dict[str, shapes.SpaceJson | None],
    dry_run: bool,
) -> Applied:
    change = change_to(wanted.config, present["config"] if present else {})
    renamed = present is not None and present["name"] != wanted.name
    joining = [name for name in wanted.spaces if not _is_in(present, spaces[name])]
    if not dry_run:
        agent = present
        if agent is None:
            agent = await client.create_agent(wanted.name, wanted.config)
        elif change or renamed:
            agent = await client.change_agent(agent["id"], wanted.name if renamed else None, change or None)
        for name in joining:
            space = spaces[name]
            assert space is not None, "missing spaces have been created"
            await client.add_member(space["id"], agent["id"])
    altered = bool(change or renamed or joining)
    return {
        "name": wanted.name,
        "outcome": "created" if present is None else "changed" if altered else "unchanged",
        "settings": (["name"] if renamed else []) + sorted(change if present else ()),
        "spaces": joining,
    }


def _is_in(agent: shapes.AgentJson | None, space: shapes.SpaceJson | None) -> bool:
    return agent is not None and space is not None and agent["id"] in {member["id"] for member in space["members"]}
