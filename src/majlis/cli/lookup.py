"""People name spaces and members by name; ids are for programs. Both work everywhere."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from majlis.entities.names import name_key
from majlis.errors import NotFound
from majlis.store.ids import looks_like_id

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.client.shapes import EntityJson, SpaceJson

_PAGE = 1000


async def find_space(client: MajlisClient, asked: str) -> SpaceJson:
    if looks_like_id(asked):
        return await client.get_space(asked)
    mine = await client.list_spaces()
    found = [space for space in mine if name_key(space["name"]) == name_key(asked)]
    if len(found) > 1:
        listed = ", ".join(space["id"] for space in found)
        raise NotFound("ambiguous_space", f"{len(found)} spaces are called {asked!r}: {listed}. Give the id.")
    if not found:
        raise nobody("space", asked, [space["name"] for space in mine])
    return found[0]


async def find_entity(client: MajlisClient, asked: str) -> EntityJson:
    if looks_like_id(asked):
        return await client.get_entity(asked)
    names: list[str] = []
    after: str | None = None
    while True:
        page = await client.list_entities(after=after, limit=_PAGE)
        for entity in page:
            if name_key(entity["name"]) == name_key(asked):
                return entity
        names += [entity["name"] for entity in page]
        if len(page) < _PAGE:
            raise nobody("entity", asked, names)
        after = page[-1]["id"]


def nobody(kind: str, asked: str, names: list[str]) -> NotFound:
    by_key = {name_key(name): name for name in names}
    close = get_close_matches(name_key(asked), by_key, 1)
    hint = f" Did you mean {by_key[close[0]]!r}?" if close else ""
    return NotFound(f"unknown_{kind}", f"There is no {kind} called {asked!r} here.{hint}")
