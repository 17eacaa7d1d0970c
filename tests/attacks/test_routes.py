"""Calling every route as everyone it is not for. The routes come from the app, and one that is not listed here is for
admins: a new route is refused to all others, or this test fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from majlis.api.app import openapi_document
from tests.conditions import until
from tests.world import Person, World

EVERYONE = (
    *("GET /api/me", "GET /api/health", "GET /api/health/live", "GET /api/health/ready", "GET /api/entities"),
    *("GET /api/spaces", "POST /api/spaces", "POST /api/direct", "GET /api/events", "GET /api/search"),
    *("GET /api/runs", "GET /api/tool-calls", "GET /api/waits", "GET /api/usage", "GET /api/pause"),
    *("GET /api/blocks", "PUT /api/blocks/{entity_id}", "DELETE /api/blocks/{entity_id}", "GET /v1/models"),
    *("POST /api/session", "DELETE /api/session", "GET /api/agents/config-schema", "POST /mcp"),
    *("GET /api/entities/{entity_id}", "GET /api/outgoing-webhooks", "GET /v1/models/{model}"),
    *("GET /api/me/push", "PUT /api/me/push", "POST /api/me/push/unsubscribe", "PUT /api/me/active"),
    *("GET /api/me/preferences", "PATCH /api/me/preferences", "GET /api/pictures/{sha256}"),
)
SERVICES = ("POST /api/agents/{agent_id}/trigger",)
OWNER = ("GET /api/audit", "PUT /api/model-hosts")
# For outside agents, with a lease of theirs.
WITH_A_LEASE = ("POST /api/inbox/{delivery_id}/renew", "POST /api/inbox/{delivery_id}/settle")
IN_A_SPACE = ("{space_id}", "{message_id}", "{run_id}", "{file_id}", "{ask_id}")
NAMES_A_SPACE = ("POST /api/asks", "POST /api/outgoing-webhooks", "POST /v1/chat/completions")
# Admins of the gateway may do this without reading the space (G2).
FROM_OUTSIDE = (
    *("DELETE /api/spaces/{space_id}", "DELETE /api/spaces/{space_id}/members/{entity_id}"),
    *("POST /api/spaces/{space_id}/pause", "DELETE /api/spaces/{space_id}/pause"),
)
WITHOUT_WRITING = ("POST /api/spaces/{space_id}/read", "DELETE /api/messages/{message_id}/reactions/{emoji}")
SPACE_ADMINS = (
    *("PATCH /api/spaces/{space_id}", "DELETE /api/spaces/{space_id}", "GET /api/spaces/{space_id}/invites"),
    *("POST /api/spaces/{space_id}/invites", "DELETE /api/spaces/{space_id}/invites/{invite_id}"),
    *("POST /api/spaces/{space_id}/pause", "DELETE /api/spaces/{space_id}/pause"),
    *("DELETE /api/spaces/{space_id}/members/{entity_id}", "GET /api/messages/{message_id}/versions"),
    *("PATCH /api/messages/{message_id}", "DELETE /api/messages/{message_id}", "GET /api/runs/{run_id}/context"),
)


class Room:
    """A space of others, with one of everything that a path can name."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids: dict[str, str] = {"emoji": "👍", "key": "k", "model": "agent:Ada", "name": "NAME"}

    async def fill(self) -> None:
        world = self.world
        self.admin, self.member, self.viewer = [await world.person(name) for name in ("Lina", "Omar", "Vera")]
        agent = await world.agent("Ada", model="demo")
        space = await world.owner.create_space("Room", agent, self.member)
        for person, role in ((self.admin, "admin"), (self.viewer, "viewer")):
            await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": person.id, "role": role})
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{world.owner.id}")
        file = await self.admin.upload(space, b"figures")
        said = await self.admin.say(space, "The secret figures", files=[file["id"]])
        ask = await self.admin.ok("POST", "/api/asks", {"spaceId": space, "kind": "text", "question": "Which?"})
        await until(self._has_run)
        [run] = (await self.admin.ok("GET", "/api/runs"))["runs"]
        self.ids |= {"space_id": space, "message_id": said["id"], "run_id": run["id"], "file_id": file["id"]}
        self.ids |= {"ask_id": ask["id"], "agent_id": agent.id, "entity_id": agent.id}

    async def _has_run(self) -> bool:
        runs = (await self.admin.ok("GET", "/api/runs"))["runs"]
        return bool(runs and runs[0]["status"] == "completed")

    async def read(self) -> list[Any]:
        space = self.ids["space_id"]
        paths = ("", "/messages", "/members", "/phases", "/pins", "/files")
        return [await self.admin.ok("GET", f"/api/spaces/{space}{path}") for path in paths]

    async def call(self, caller: Person, method: str, path: str) -> int:
        named = re.sub(r"{(\w+)}", lambda found: self.ids.get(found[1], f"{found[1][:3]}_0000000000000000"), path)
        request: dict[str, Any] = {"json": self._body(method, path)}
        if path.endswith("/files"):
            request = {"files": {"file": ("a.txt", b"x", "text/plain")}}
        asked = caller.http.stream(method, named, params={"q": "x"}, **(request if method != "GET" else {}))
        async with asked as response:
            return response.status_code

    def _body(self, method: str, path: str) -> Any:
        """One that is valid, so that it is the caller who is refused."""
        space = self.ids["space_id"]
        bodies: dict[str, Any] = {
            "POST /api/spaces/{space_id}/members": {"entityId": self.admin.id},
            "POST /api/spaces/{space_id}/messages": {"text": "x"},
            "POST /api/spaces/{space_id}/phase": {"phase": "x"},
            "POST /api/spaces/{space_id}/read": {"lastMessageId": self.ids["message_id"]},
            "PATCH /api/messages/{message_id}": {"text": "x"},
            "POST /api/runs/{run_id}/tool-results": {"toolCallId": "x", "result": True},
            "POST /api/asks": {"spaceId": space, "kind": "text", "question": "x"},
            "POST /api/asks/{ask_id}/answers": {"result": "x"},
            "POST /api/outgoing-webhooks": {"url": "https://a.example", "spaceId": space, "events": ["space.message"]},
            "POST /v1/chat/completions": {"model": f"space:{space}", "messages": [{"role": "user", "content": "x"}]},
            "POST /api/agents": {"name": "Zoe", "config": {}},
            "POST /api/agents/{agent_id}/trigger": {"payload": {}},
            "POST /api/agents/{agent_id}/try": {"text": "x"},
            "PUT /api/agents/{agent_id}/memories/{key}": {"value": "x"},
            "POST /api/entities": {"type": "human", "name": "Zed"},
            "PUT /api/budgets": {"budgets": []},
            "POST /api/inbox/{delivery_id}/renew": {"lease": "x"},
            "POST /api/inbox/{delivery_id}/settle": {"lease": "x", "state": "done"},
            "POST /api/incoming-webhooks": {"name": "x", "spaceId": space, "verify": {"scheme": "none"}},
            "PUT /api/model-hosts": {"hosts": []},
            "POST /api/mcp-sign-ins": {"name": "X", "url": "https://a.example/mcp"},
            "POST /api/models/look": {"provider": "openai"},
            "POST /api/models/test": {"model": "demo"},
            "PUT /api/models/{name}": {"model": "demo"},
            "PUT /api/secrets/{name}": {"value": "x", "hosts": ["a.example"]},
        }
        return bodies.get(f"{method} {path}", {})


def routes() -> Iterator[tuple[str, str]]:
    for path, methods in openapi_document()["paths"].items():
        for method in methods:
            yield method.upper(), path


def concerns_a_space(method: str, path: str) -> bool:
    return any(part in path for part in IN_A_SPACE) or f"{method} {path}" in NAMES_A_SPACE


async def test_g2_g3_no_route_of_a_space_serves_anyone_who_is_not_in_it(world: World) -> None:
    room = Room(world)
    await room.fill()
    before = await room.read()
    outside = await world.agent("Ben", model="demo")
    callers = [await world.person("Sam"), await world.person("Shop", type="service"), outside]
    admin = await world.person("Ali", role="admin")
    for method, path in routes():
        if concerns_a_space(method, path):
            for caller in (*callers, *(() if f"{method} {path}" in FROM_OUTSIDE else (admin,))):
                assert await room.call(caller, method, path) == 404, (caller.name, method, path)
    assert await room.read() == before


async def test_no_route_lets_a_viewer_write_or_a_member_administer(world: World) -> None:
    room = Room(world)
    await room.fill()
    before = await room.read()
    for method, path in routes():
        route = f"{method} {path}"
        if not concerns_a_space(method, path):
            continue
        if method != "GET" and route not in WITHOUT_WRITING:
            assert await room.call(room.viewer, method, path) in (403, 404), route
        if route in SPACE_ADMINS:
            assert await room.call(room.member, method, path) in (403, 404), route
        if method == "GET" and not path.endswith(("/thumbnail", "/events", "/context", "/invites")):
            assert await room.call(room.admin, method, path) == 200, route
    assert await room.read() == before


async def test_every_other_route_is_for_admins_unless_it_is_listed(world: World) -> None:
    room = Room(world)
    await room.fill()
    shop, ben = await world.person("Shop", type="service"), await world.agent("Ben", model="demo")
    admin = await world.person("Ali", role="admin")
    for method, path in routes():
        route = f"{method} {path}"
        if route in EVERYONE or route in WITH_A_LEASE or concerns_a_space(method, path):
            continue
        services = () if route in SERVICES else (shop,)
        for caller in (room.member, ben, *services, *((admin,) if route in OWNER else ())):
            refused = await room.call(caller, method, path)
            assert refused in (403, 404), (caller.name, route, refused)
    for route in WITH_A_LEASE:
        method, path = route.split(" ")
        assert await room.call(room.member, method, path) == 409


def test_the_lists_name_only_routes_that_exist() -> None:
    known = {f"{method} {path}" for method, path in routes()}
    listed = {
        *EVERYONE,
        *SERVICES,
        *OWNER,
        *WITH_A_LEASE,
        *NAMES_A_SPACE,
        *FROM_OUTSIDE,
        *WITHOUT_WRITING,
        *SPACE_ADMINS,
    }
    assert listed - known == set()
