"""D6, G6: a remote MCP server chooses the addresses of its sign-in, and none of them leads the gateway to a host that
the owner has not allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from majlis.settings import Settings
from tests.runs.house import open_house
from tests.tools.uvicorn_server import serving_app

WAYS = ["redirect", "resource_metadata", "authorization_server", "metadata_redirect", "registration", "token"]


class Hostile:
    """An MCP server whose sign-in leads inside by one of the ways."""

    def __init__(self, way: str, inside: int) -> None:
        self.way = way
        self.inside = f"http://127.0.0.1:{inside}"
        self.own = ""

    def at(self, way: str, path: str = "") -> str:
        return f"{self.inside if way == self.way else self.own}{path}"

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.own = str(request.base_url).rstrip("/")
        if path == "/mcp":
            if self.way == "redirect":
                return RedirectResponse(f"{self.inside}/mcp", 307)
            metadata = self.at("resource_metadata", "/.well-known/oauth-protected-resource/mcp")
            return Response(status_code=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{metadata}"'})
        if "oauth-protected-resource" in path:
            servers = [self.at("authorization_server")]
            return JSONResponse({"resource": f"{self.own}/mcp", "authorization_servers": servers})
        if path.startswith("/.well-known/"):
            if self.way == "metadata_redirect":
                return RedirectResponse(f"{self.inside}{path}", 302)
            return JSONResponse(self.metadata())
        if path == "/register":
            client = {**(await request.json()), "client_id": "gateway"}
            return JSONResponse(client, 201)
        return Response(status_code=404)

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.own,
            "authorization_endpoint": f"{self.own}/authorize",
            "registration_endpoint": self.at("registration", "/register"),
            "token_endpoint": self.at("token", "/token"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, list[str]]]:
    """A service inside, which notes who connects."""
    visits: list[str] = []

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append((await reader.readline()).decode("latin-1"))
        writer.close()

    server = await asyncio.start_server(visit, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], visits
    finally:
        server.close()


@asynccontextmanager
async def hostile_server(way: str, inside: int) -> AsyncIterator[int]:
    routes = [Route("/{path:path}", Hostile(way, inside).answer, methods=["GET", "POST", "DELETE"])]
    async with serving_app(Starlette(routes=routes)) as port:
        yield port


async def begin(settings: Settings, port: int, *hosts: str) -> httpx.Response:
    """Signs in as an admin does, and returns the first response that is not a link."""
    allowed = settings.model_copy(update={"tool_private_hosts": [f"127.0.0.1:{port}", *hosts]})
    async with open_house(allowed) as house:
        begun = await house.owner.post("/api/mcp-sign-ins", {"name": "vault", "url": f"http://127.0.0.1:{port}/mcp"})
        if not begun.is_success:
            return begun
        # A person has allowed the access, so the address for tokens is used.
        link = httpx.URL(begun.json()["authorizationUrl"])
        back = httpx.URL(link.params["redirect_uri"])
        async with httpx.AsyncClient() as browser:
            return await browser.get(back.copy_merge_params({"code": "a-code", "state": link.params["state"]}))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("way", WAYS)
async def test_d6_metadata_of_a_sign_in_leads_nowhere_that_is_not_allowed(settings: Settings, way: str) -> None:
    async with listening() as (inside, visits), hostile_server(way, inside) as port:
        ended = await begin(settings, port)
        assert "Signed in" not in ended.text
        assert not ended.is_success, ended.text
        assert visits == []


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_d6_metadata_of_a_sign_in_leads_to_an_allowed_host(settings: Settings) -> None:
    """Otherwise the test above would find nothing."""
    async with listening() as (inside, visits), hostile_server("registration", inside) as port:
        assert not (await begin(settings, port, f"127.0.0.1:{inside}")).is_success
        assert visits == ["POST /register HTTP/1.1\r\n"]
