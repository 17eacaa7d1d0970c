"""Agents by the names that people give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.client.shapes import AgentJson

_PAGE = 1000


async def all_agents(client: MajlisClient) -> list[AgentJson]:
    found: list[AgentJson] = []
    while True:
        page = await client.list_agents(found[-1]["id"] if found else None, _PAGE)
        found += page
        if len(page) < _PAGE:
            return found


async def find_agent(client: MajlisClient, asked: str) -> AgentJson:
    from majlis.cli.lookup import find_entity

    entity = await find_entity(client, asked)
    if entity["type"] != "agent":
        raise NotFound("unknown_agent", f"{entity['name']} is no agent but a {entity['type']}.")
    return await client.get_agent(entity["id"])
