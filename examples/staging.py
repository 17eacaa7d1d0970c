"""From an example's file to agents, spaces and people of a gateway. Doing it again changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from majlis.client import MajlisClient

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """`say` is what to type in the first space, `about` what happens then. `settings` are the gateway's."""

    name: str
    about: str
    say: str
    agents: list[dict[str, Any]]
    spaces: list[dict[str, Any]]
    people: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


def names() -> list[str]:
    return sorted(file.parent.name for file in FOLDER.glob("*/example.yaml"))


def load(name: str) -> Example:
    folder = FOLDER / name
    text = (folder / "example.yaml").read_text("utf-8")
    # The one thing that a file cannot know: where it lies, and which Python runs here.
    text = text.replace("{here}", str(folder)).replace("{python}", sys.executable)
    return Example(name, **yaml.safe_load(text))


async def stage(client: MajlisClient, example: Example, model: str | Mapping[str, object]) -> dict[str, str]:
    """Creates the example. Returns all ids by name. All agents use `model`."""
    ids = {entity["name"]: entity["id"] for entity in await client.list_entities()}
    for person in example.people:
        if person not in ids:
            ids[person] = (await client.create_entity("human", person))["id"]
    for described in example.agents:
        name, config = described["name"], {"model": model, **_config(described)}
        if name in ids:
            await client.change_agent(ids[name], config=config)
        else:
            ids[name] = (await client.create_agent(name, config))["id"]
    for space in example.spaces:
        ids[space["name"]] = await _space(client, example, space, ids)
    return ids


async def _space(client: MajlisClient, example: Example, space: dict[str, Any], ids: dict[str, str]) -> str:
    known = {each["name"]: each["id"] for each in await client.list_spaces()}
    space_id = known.get(space["name"]) or (await client.create_space(space["name"]))["id"]
    here = [agent["name"] for agent in example.agents if space["name"] in agent["spaces"]]
    for member in (*example.people, *here):
        await client.add_member(space_id, ids[member])
    if "orchestrator" in space:
        await client.change_space(space_id, triggers="orchestrated", orchestrator_id=ids[space["orchestrator"]])
    if "toolPolicy" in space:
        await client.change_space(space_id, tool_policy=space["toolPolicy"])
    return space_id


def _config(described: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in described.items() if key not in ("name", "spaces")}
