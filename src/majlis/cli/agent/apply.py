"""`majlis agent apply`: creates and changes agents, and the people and spaces that a file describes, until they match.
Everything is checked before anything is changed, and applying the same files again changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from majlis.cli.agent.files import Described, change_to, read_agents
from majlis.cli.agent.places import Place, Places, read_places
from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import LIST_HINT, all_agents, all_entities, find_space, unknown
from majlis.cli.terminal import note, print_list
from majlis.entities.names import name_key
from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

# By name. None for those that a dry run would create.
Spaces = dict[str, "shapes.SpaceJson | None"]
Ids = dict[str, str | None]


class Applied(TypedDict):
    type: Literal["person", "space", "agent"]
    name: str
    outcome: Literal["created", "changed", "unchanged"]
    # Keys of an agent's config, or settings of a space, that are new or different.
    settings: list[str]
    # The agent was added to these spaces.
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
    """Create and change agents to match files.

    People and spaces that a file describes next to its agents are created too.
    """
    done = await apply_files(client, files, create_spaces, dry_run)
    rows = [
        (each["name"], each["type"], each["outcome"], ", ".join(each["settings"]), ", ".join(each["spaces"]))
        for each in done
    ]
    columns = ("Name", "Type", "Dry run" if dry_run else "Result", "Settings", "Added to")
    print_list(done, as_json, columns, rows, "The files contain no agents.")
    new = [each["name"] for each in done if each["type"] == "person" and each["outcome"] == "created"]
    if new and not dry_run and not as_json:
        note(f"Send each new person a sign-in link: majlis person invite {new[0]!r}")


async def apply_files(
    client: MajlisClient, files: Sequence[Path], create_spaces: bool = False, dry_run: bool = False
) -> list[Applied]:
    wanted, places = read_agents(files), read_places(files)
    present = {name_key(agent["name"]): agent for agent in await all_agents(client)}
    ids: Ids = {name_key(each["name"]): each["id"] for each in await all_entities(client)}
    _check_members(ids, wanted, places)
    named = [each.name for each in places.spaces]
    spaces, made = await _spaces(client, wanted, named, create_spaces, dry_run)
    people = [await _add_person(client, name, ids, dry_run) for name in places.people]
    agents = [await _apply(client, each, present.get(name_key(each.name)), spaces, ids, dry_run) for each in wanted]
    filled = [await _fill(client, each, spaces, ids, each.name in made, dry_run) for each in places.spaces]
    return [*people, *filled, *agents]


def _check_members(ids: Ids, wanted: Sequence[Described], places: Places) -> None:
    known = {*ids, *map(name_key, places.people), *(name_key(each.name) for each in wanted)}
    for place in places.spaces:
        for name in (*place.members, *filter(None, [place.orchestrator])):
            if name_key(name) not in known:
                raise unknown("entity", name, sorted({*places.people, *(each.name for each in wanted)}))


async def _spaces(
    client: MajlisClient, wanted: Sequence[Described], described: Sequence[str], create: bool, dry_run: bool
) -> tuple[Spaces, set[str]]:
    """Returns each space by its name, and the names of those that were created. Spaces that a file describes are always
    created."""
    found: Spaces = {}
    missing: list[str] = []
    for name in dict.fromkeys([*described, *(name for agent in wanted for name in agent.spaces)]):
        try:
            found[name] = await find_space(client, name)
        except NotFound as error:
            if error.code != "unknown_space" or not (create or name in described):
                hint = " Use --create-spaces to create it." if error.code == "unknown_space" else ""
                raise NotFound(error.code, f"{error.message.partition(LIST_HINT)[0]}{hint}") from None
            missing.append(name)
    # Created only after all names are checked.
    for name in missing:
        found[name] = None if dry_run else await client.create_space(name)
    return found, set(missing)


async def _add_person(client: MajlisClient, name: str, ids: Ids, dry_run: bool) -> Applied:
    new = name_key(name) not in ids
    if new:
        ids[name_key(name)] = None if dry_run else (await client.create_entity("human", name))["id"]
    return {"type": "person", "name": name, "outcome": "created" if new else "unchanged", "settings": [], "spaces": []}


async def _apply(
    client: MajlisClient, wanted: Described, present: shapes.AgentJson | None, spaces: Spaces, ids: Ids, dry_run: bool
) -> Applied:
    change = change_to(wanted.config, present["config"] if present else {})
    renamed = present is not None and present["name"] != wanted.name
    joining = [name for name in wanted.spaces if not _is_in(present and present["id"], spaces[name])]
    if not dry_run:
        agent = present
        if agent is None:
            agent = await client.create_agent(wanted.name, wanted.config)
        elif change or renamed:
            agent = await client.change_agent(agent["id"], wanted.name if renamed else None, change or None)
        ids[name_key(wanted.name)] = agent["id"]
        for name in joining:
            space = spaces[name]
            assert space is not None, "missing spaces have been created"
            await client.add_member(space["id"], agent["id"])
    altered = bool(change or renamed or joining)
    return {
        "type": "agent",
        "name": wanted.name,
        "outcome": "created" if present is None else "changed" if altered else "unchanged",
        "settings": (["name"] if renamed else []) + sorted(change if present else ()),
        "spaces": joining,
    }


async def _fill(client: MajlisClient, wanted: Place, spaces: Spaces, ids: Ids, new: bool, dry_run: bool) -> Applied:
    """Adds members, and sets what the file describes. Members are never removed."""
    space = spaces[wanted.name]
    named = [*wanted.members, *filter(None, [wanted.orchestrator])]
    joining = list(dict.fromkeys(name for name in named if not _is_in(ids.get(name_key(name)), space)))
    described = wanted.description is not None and (space is None or space["description"] != wanted.description)
    conductor = ids.get(name_key(wanted.orchestrator)) if wanted.orchestrator else None
    conducted = wanted.orchestrator is not None and (
        space is None or conductor is None or space["orchestratorId"] != conductor
    )
    if space is not None and not dry_run:
        for name in joining:
            await client.add_member(space["id"], str(ids[name_key(name)]))
        if described and wanted.description is not None:
            await client.change_space(space["id"], description=wanted.description)
        if conducted:
            await client.change_space(space["id"], triggers="orchestrated", orchestrator_id=conductor)
    changes = {"members": joining, "description": described, "orchestrator": conducted}
    settings = [name for name, changed in changes.items() if changed]
    outcome: Literal["created", "changed", "unchanged"] = "created" if new else "changed" if settings else "unchanged"
    return {"type": "space", "name": wanted.name, "outcome": outcome, "settings": settings, "spaces": []}


def _is_in(entity_id: str | None, space: shapes.SpaceJson | None) -> bool:
    return entity_id is not None and space is not None and entity_id in {member["id"] for member in space["members"]}
