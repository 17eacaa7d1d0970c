"""Who is calling: a bearer token, or the browser's session cookie with proof that the page is our own."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from majlis.entities.caller import Caller
from majlis.entities.tokens import find_caller
from majlis.errors import Forbidden, Unauthenticated
from majlis.gateway import Gateway, owner_caller

COOKIE = "majlis_session"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def the_gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def authenticate(request: Request) -> Caller:
    gateway = the_gateway(request)
    header = request.headers.get("authorization")
    if header is not None:
        caller = await _by_token(gateway, header)
    else:
        caller = await _by_cookie(gateway, request)
    request.app.state.caller_limit.spend(caller.id)
    return caller


async def _by_token(gateway: Gateway, header: str) -> Caller:
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("unauthenticated", "Send the header Authorization: Bearer <token>.")
    digest = gateway.hasher.hash(token.strip())
    if gateway.is_owner_token(digest):
        return await gateway.db.read(owner_caller, gateway.owner_id)
    caller = await gateway.db.read(find_caller, digest, "api")
    if caller is None:
        raise Unauthenticated("invalid_token", "This token is not valid, has expired or was revoked.")
    return caller


async def _by_cookie(gateway: Gateway, request: Request) -> Caller:
    secret = request.cookies.get(COOKIE)
    if secret is None:
        raise Unauthenticated("unauthenticated", "Send a bearer token, or sign in with a browser.")
    if request.method not in _SAFE:
        require_own_page(request)
    caller = await gateway.db.read(find_caller, gateway.hasher.hash(secret), "session")
    if caller is None:
        raise Unauthenticated("session_ended", "This session has ended. Sign in again.")
    return caller


def require_own_page(request: Request) -> None:
    """A browser says where a request comes from. One that a foreign page made, or that does not say, is refused."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site == "same-origin"
    else:
        own = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    if not own and origin not in the_gateway(request).settings.allowed_origins:
        raise Forbidden("cross_site", "This request did not come from a page of this gateway.")


def https(gateway: Gateway) -> bool:
    return gateway.settings.public_url.startswith("https://")


TheCaller = Annotated[Caller, Depends(authenticate)]
TheGateway = Annotated[Gateway, Depends(the_gateway)]
