"""API tokens and one-time sign-in links."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import NewToken, PathId, nothing, reply
from majlis.api.error_responses import refusals
from majlis.clock import iso, parse_iso
from majlis.entities.sessions import create_sign_in_code
from majlis.entities.shapes import NewTokenJson, SignInLinkJson, TokenJson
from majlis.entities.tokens import create_token, list_tokens, revoke_token

router = APIRouter(tags=["tokens"])


@router.post("/api/entities/{entity_id}/tokens", status_code=201, response_model=NewTokenJson, responses=refusals(404))
async def create(gateway: TheGateway, entry: TheEntry, entity_id: PathId, body: NewToken | None = None) -> Response:
    asked = body or NewToken()
    expires_at = parse_iso(asked.expires_at) if asked.expires_at else None
    row, token = await entry.write(create_token, gateway.hasher, entity_id, asked.label, expires_at)
    return reply({**row, "token": token}, 201)


@router.get("/api/entities/{entity_id}/tokens", response_model=list[TokenJson], responses=refusals(404))
async def list_of_entity(entry: TheEntry, entity_id: PathId) -> Response:
    return reply(await entry.read(list_tokens, entity_id))


@router.delete("/api/tokens/{token_id}", status_code=204, responses=refusals(404))
async def revoke(entry: TheEntry, token_id: PathId) -> Response:
    await entry.write(revoke_token, token_id)
    return nothing()


@router.post(
    "/api/entities/{entity_id}/sign-in-links", status_code=201, response_model=SignInLinkJson, responses=refusals(404)
)
async def create_sign_in_link(gateway: TheGateway, entry: TheEntry, request: Request, entity_id: PathId) -> Response:
    code, expires_at = await entry.write(create_sign_in_code, gateway.hasher, entity_id)
    base = gateway.settings.public_url or str(request.base_url).rstrip("/")
    return reply({"url": f"{base}/sign-in/{code}", "expiresAt": iso(expires_at)}, 201)
