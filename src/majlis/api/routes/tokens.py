"""API tokens, one-time sign-in links, and the live access of an entity."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from majlis.api.auth import TheEntry, TheGateway, base_url
from majlis.api.bodies import NewToken, PathId, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.clock import iso, parse_iso
from majlis.entities.live_access import end_access, end_all_access, list_access
from majlis.entities.sessions import create_sign_in_code
from majlis.entities.shapes import AccessJson, NewTokenJson, SignInLinkJson, TokenJson
from majlis.entities.tokens import create_token, list_tokens

router = new_router("tokens")

KeepCurrent = Annotated[bool, Query(alias="keepCurrent", description="Keep the one that this request uses.")]


@router.post("/api/entities/{entity_id}/tokens", status_code=201, response_model=NewTokenJson, responses=refusals(404))
async def create(gateway: TheGateway, entry: TheEntry, entity_id: PathId, body: NewToken | None = None) -> Response:
    asked = body or NewToken()
    expires_at = parse_iso(asked.expires_at) if asked.expires_at else None
    row, token = await entry.write(create_token, gateway.hasher, entity_id, asked.label, expires_at, asked.scopes)
    return reply({**row, "token": token}, 201)


@router.get("/api/entities/{entity_id}/tokens", response_model=list[TokenJson], responses=refusals(404))
async def list_of_entity(entry: TheEntry, entity_id: PathId) -> Response:
    return reply(await entry.read(list_tokens, entity_id))


@router.delete("/api/tokens/{token_id}", status_code=204, responses=refusals(404))
async def revoke(entry: TheEntry, token_id: PathId) -> Response:
    await entry.write(end_access, token_id)
    return nothing()


@router.get("/api/entities/{entity_id}/access", response_model=list[AccessJson], responses=refusals(404))
async def list_access_of(entry: TheEntry, entity_id: PathId) -> Response:
    """Tokens, browser sessions and unused sign-in links. For the entity itself and for admins."""
    return reply(await entry.read(list_access, entity_id))


@router.delete("/api/access/{token_id}", status_code=204, responses=refusals(404))
async def end(entry: TheEntry, token_id: PathId) -> Response:
    """Ends a token, session or link, and everything that was opened with it."""
    await entry.write(end_access, token_id)
    return nothing()


@router.delete("/api/entities/{entity_id}/access", status_code=204, responses=refusals(404))
async def end_all(entry: TheEntry, entity_id: PathId, keep_current: KeepCurrent = False) -> Response:
    """Ends all tokens, sessions and links of an entity."""
    await entry.write(end_all_access, entity_id, keep_current)
    return nothing()


@router.post(
    "/api/entities/{entity_id}/sign-in-links", status_code=201, response_model=SignInLinkJson, responses=refusals(404)
)
async def create_sign_in_link(gateway: TheGateway, entry: TheEntry, request: Request, entity_id: PathId) -> Response:
    code, expires_at = await entry.write(create_sign_in_code, gateway.hasher, entity_id)
    return reply({"url": f"{base_url(request)}/sign-in/{code}", "expiresAt": iso(expires_at)}, 201)
