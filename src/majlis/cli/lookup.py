"""Finds spaces, entities and agents by name or id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from majlis.entities.names import name_key
from majlis.errors import NotFound
from majlis.store.ids import looks_like_id

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

T = TypeVar("T", bound=Mapping[str, object])

_PAGE = 1000
LIST_HINT = " List them with: "
_LISTS = {"space": "majlis space list", "entity": "majlis person list, or majlis agent list"}
_NOUNS = {"space": "space", "entity": "person, agent or service"}


async def find_space(client: MajlisClient, asked: str) -> shapes.SpaceJson:
    if looks_like_id(asked):
        return await client.get_space(asked)
    spaces = await client.list_spaces()
    found = [space for space in spaces if name_key(_typed(space)) == name_key(asked)]
    if len(found) > 1:
        listed = ", ".join(f"{space['id']} ({_outline(space)})" for space in found)
        raise NotFound("ambiguous_space", f"{len(found)} spaces are named {asked!r}: {listed}. Use the id.")
    if not found:
        raise unknown("space", asked, [_typed(space) for space in spaces])
    return found[0]


async def open_space(client: MajlisClient, asked: str) -> shapes.SpaceJson:
    """Like `find_space`; @NAME opens the direct conversation with a person or an agent (L8)."""
    if not asked.startswith("@"):
        return await find_space(client, asked)
    return await client.open_direct((await find_entity(client, asked.removeprefix("@")))["id"])


async def find_entity(client: MajlisClient, asked: str) -> shapes.EntityJson:
    if looks_like_id(asked):
        return await client.get_entity(asked)
    entities = await all_entities(client)
    for entity in entities:
        if name_key(entity["name"]) == name_key(asked):
            return entity
    raise unknown("entity", asked, [entity["name"] for entity in entities])


def _outline(space: shapes.SpaceJson) -> str:
    count = len(space["members"])
    return f"{count} member{'' if count == 1 else 's'}, created {space['createdAt'][:10]}"


def _typed(space: shapes.SpaceJson) -> str:
    return f"@{space['name']}" if space["direct"] else space["name"]


async def find_agent(client: MajlisClient, asked: str) -> shapes.AgentJson:
    entity = await find_entity(client, asked)
    if entity["type"] != "agent":
        raise not_an_agent(entity["name"], entity["type"])
    return await client.get_agent(entity["id"])


async def all_entities(client: MajlisClient) -> list[shapes.EntityJson]:
    return await _all_pages(client.list_entities)


async def all_people(client: MajlisClient) -> list[shapes.EntityJson]:
    return await _all_pages(partial(client.list_entities, "human"))


async def all_agents(client: MajlisClient) -> list[shapes.AgentJson]:
    return await _all_pages(client.list_agents)


def unknown(kind: str, asked: str, names: list[str]) -> NotFound:
    from difflib import get_close_matches

    by_key = {name_key(name): name for name in names}
    close = get_close_matches(name_key(asked), by_key, 1)
    hint = f" Did you mean {by_key[close[0]]!r}?" if close else ""
    hint = hint or f"{LIST_HINT}{_LISTS[kind]}"
    return NotFound(f"unknown_{kind}", f"There is no {_NOUNS[kind]} named {asked!r}.{hint}")


def not_an_agent(name: str, type: str) -> NotFound:
    return NotFound("unknown_agent", f"{name} is a {'person' if type == 'human' else type}, not an agent.")


async def _all_pages(list_page: Callable[..., Awaitable[list[T]]]) -> list[T]:
    found: list[T] = []
    while True:
        page = await list_page(after=found[-1]["id"] if found else None, limit=_PAGE)
        found += page
        if len(page) < _PAGE:
            return found
