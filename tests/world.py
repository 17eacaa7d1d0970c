"""A served gateway as its users see it: people and agents with tokens, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from majlis.entities.tokens import issue
from majlis.gateway import Gateway, open_gateway
from majlis.http_server import Server, address, bind
from majlis.settings import Settings
from tests.conditions import until
from tests.follower import Follower


class Person:
    """An entity with a token, and its requests."""

    def __init__(self, base_url: str, token: str, id: str, name: str) -> None:
        self.id = id
        self.name = name
        self.token = token
        self.base_url = base_url
        self.http = httpx.AsyncClient(
            verify=False,  # plain HTTP: loading certificates for every client takes time
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=100),
        )

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.http.get(path, params=params or None)

    async def post(self, path: str, body: Any = None) -> httpx.Response:
        return await self.http.post(path, json=body)

    async def patch(self, path: str, body: Any) -> httpx.Response:
        return await self.http.patch(path, json=body)

    async def delete(self, path: str) -> httpx.Response:
        return await self.http.delete(path)

    async def ok(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        """The JSON of a response that must be a success."""
        response = await self.http.request(method, path, json=body, params=params or None)
        assert response.is_success, f"{method} {path} → {response.status_code} {response.text}"
        return response.json() if response.content else None

    async def say(self, space: str, text: str, **more: Any) -> Any:
        return await self.ok("POST", f"/api/spaces/{space}/messages", {"text": text, **more})

    async def post_file(
        self, space: str, content: bytes, name: str = "notes.txt", claimed: str = "text/plain", **headers: str
    ) -> httpx.Response:
        """`claimed` is the type that the client claims."""
        path = f"/api/spaces/{space}/files"
        return await self.http.post(path, files={"file": (name, content, claimed)}, headers=headers)

    async def upload(self, space: str, content: bytes, name: str = "notes.txt") -> Any:
        response = await self.post_file(space, content, name)
        assert response.status_code == 201, response.text
        return response.json()

    async def create_space(self, name: str = "Project Alpha", *members: Person, **more: Any) -> str:
        space = await self.ok("POST", "/api/spaces", {"name": name, **more})
        for member in members:
            await self.ok("POST", f"/api/spaces/{space['id']}/members", {"entityId": member.id})
        return str(space["id"])

    async def space(self, space: str) -> Any:
        return await self.ok("GET", f"/api/spaces/{space}")

    async def history(self, space: str, **params: Any) -> Any:
        return await self.ok("GET", f"/api/spaces/{space}/messages", **params)

    def follow(self, space: str | None = None, last_id: str | None = None) -> Follower:
        path = "/api/events" if space is None else f"/api/spaces/{space}/events"
        return Follower(self.http, path, last_id)


class World:
    def __init__(self, base_url: str, owner: Person, gateway: Gateway | None = None) -> None:
        self.base_url = base_url
        self.owner = owner
        self._gateway = gateway
        self._people = [owner]

    @property
    def gateway(self) -> Gateway:
        assert self._gateway is not None, "this world is served by another process"
        return self._gateway

    async def person(self, name: str, type: str = "human", role: str = "member") -> Person:
        made = await self.owner.ok("POST", "/api/entities", {"type": type, "name": name, "role": role})
        return await self.with_token(made["id"], name)

    async def agent(self, name: str, **config: Any) -> Person:
        made = await self.owner.ok("POST", "/api/agents", {"name": name, "config": config})
        return await self.with_token(made["id"], name)

    async def with_token(self, entity_id: str, name: str, **body: Any) -> Person:
        token = await self.owner.ok("POST", f"/api/entities/{entity_id}/tokens", body)
        person = Person(self.base_url, token["token"], entity_id, name)
        self._people.append(person)
        return person

    async def anybody(self, token: str, name: str = "?") -> Person:
        """An entity that is known only by its token."""
        person = Person(self.base_url, token, "", name)
        self._people.append(person)
        return person

    async def same(self, person: Person) -> Person:
        """The same person as a user of this node."""
        found = Person(self.base_url, person.token, person.id, person.name)
        self._people.append(found)
        return found

    async def close(self) -> None:
        for person in self._people:
            await person.http.aclose()


@asynccontextmanager
async def serve_world(settings: Settings) -> AsyncIterator[World]:
    listener = bind(settings)
    gateway = await open_gateway(settings)
    server = Server(gateway)
    # `_serve` is `serve` without signal handlers, which belong to the test runner.
    serving = asyncio.create_task(server._serve([listener]))
    base_url = address(settings, listener)
    _, token = await gateway.db.write(issue, gateway.hasher, gateway.owner_id, "api")
    owner = Person(base_url, token, gateway.owner_id, settings.owner_name)
    world = World(base_url, owner, gateway)
    try:
        await until(lambda: server.started)
        yield world
    finally:
        await world.close()
        server.stop()
        await serving
