"""The gateway's sign-ins to remote MCP servers (D6): an admin starts one, and the authorization server answers."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query, Request, Response
from typing_extensions import TypedDict

from majlis.api.auth import TheEntry, TheGateway, base_url
from majlis.api.bodies import NewSignIn, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.api.routes.pages import page
from majlis.api.routes.session import limit_sign_in
from majlis.entities.caller import require_administrator
from majlis.errors import MajlisError
from majlis.lazy_import import import_alone

router = new_router("secrets")


class SignInJson(TypedDict):
    """An admin opens `authorizationUrl` in a browser and allows the access, before `expiresAt`."""

    name: str
    url: str
    authorizationUrl: str
    expiresAt: str


@router.post("/api/mcp-sign-ins", response_model=SignInJson, status_code=201, responses=refusals(409))
async def begin_sign_in(gateway: TheGateway, entry: TheEntry, request: Request, body: NewSignIn) -> Response:
    """Start to sign the gateway in to a remote MCP server (OAuth). The tokens become a stored secret of this name, and
    agents use them with `oauth` in their config. For admins."""
    caller = await entry.caller()
    require_administrator(caller)
    sign_in = await asyncio.to_thread(import_alone, "majlis.tools.mcp.sign_in")
    back = f"{base_url(request)}/mcp-sign-in"
    wanted = sign_in.Wanted(body.name, body.url, body.scope, body.client_id, body.client_secret)
    begun: dict[str, Any] = await sign_in.begin(gateway.db, gateway.secrets, gateway.tools.reach, caller, wanted, back)
    return reply(begun, 201)


@router.get("/mcp-sign-in", include_in_schema=False)
async def finish(
    gateway: TheGateway,
    request: Request,
    state: Annotated[str, Query(max_length=4096)] = "",
    code: Annotated[str, Query(max_length=4096)] = "",
    iss: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """The authorization server sends the admin's browser here."""
    try:
        limit_sign_in(request)
        sign_in = await asyncio.to_thread(import_alone, "majlis.tools.mcp.sign_in")
        name: str = await sign_in.finish(gateway.secrets, gateway.tools.reach, state, code, iss)
    except MajlisError as refusal:
        return page(request, "mcp-sign-in-failed.html", {"message": refusal.message}, refusal.status)
    return page(request, "mcp-signed-in.html", {"name": name})
