"""Who is calling: a bearer token, or the browser's session cookie with proof that the page is our own.

A route is handed an `Entry` rather than a caller: work is run on the caller's behalf, and the token is looked up in
the same transaction as the work. That is one round trip less, and a token that ends meanwhile opens nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Concatenate
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from majlis.entities.caller import Caller
from majlis.entities.tokens import TokenKind, find_caller
from majlis.errors import Forbidden, Unauthenticated
from majlis.foundation import owner_caller
from majlis.gateway import Gateway
from majlis.store.transactions import P, T, Tx

COOKIE = "majlis_session"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request brought, not yet believed."""

    digest: str
    kind: TokenKind
    # The id of the owner, when it is the fixed token of the settings.
    owner_id: str | None = None

    def identify(self, tx: Tx) -> Caller:
        if self.owner_id is not None:
            return owner_caller(tx, self.owner_id)
        caller = find_caller(tx, self.digest, self.kind)
        if caller is None and self.kind == "session":
            raise Unauthenticated("session_ended", "This session has ended. Sign in again.")
        if caller is None:
            raise Unauthenticated("invalid_token", "This token is not valid, has expired or was revoked.")
        return caller


class Entry:
    """Runs work on the caller's behalf: `work(tx, caller, …)`."""

    __slots__ = ("_credential", "_gateway", "_known")

    def __init__(self, gateway: Gateway, credential: Credential, known: KnownTokens) -> None:
        self._gateway = gateway
        self._credential = credential
        self._known = known

    async def write(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._refuse_strangers()
        return await self._gateway.db.write(lambda tx: work(tx, self._credential.identify(tx), *args, **kwargs))

    async def write_brief(
        self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._refuse_strangers()
        return await self._gateway.db.write_brief(lambda tx: work(tx, self._credential.identify(tx), *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        result = await self._gateway.db.read(lambda tx: work(tx, self._credential.identify(tx), *args, **kwargs))
        self._known.add(self._credential.digest)
        return result

    async def snapshot(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._gateway.db.snapshot(lambda tx: work(tx, self._credential.identify(tx), *args, **kwargs))

    async def _refuse_strangers(self) -> None:
        """They must not queue up at the writer: a token that was never good here is tried on a reader first."""
        if self._credential.digest not in self._known:
            await self.caller()

    async def caller(self) -> Caller:
        caller = await self._gateway.db.read(self._credential.identify)
        self._known.add(self._credential.digest)
        return caller


class KnownTokens:
    """Digests of tokens that were good once; the oldest are forgotten first. It opens nothing by itself."""

    def __init__(self) -> None:
        self._digests: dict[str, None] = {}

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def add(self, digest: str) -> None:
        self._digests[digest] = None
        if len(self._digests) > _REMEMBERED:
            del self._digests[next(iter(self._digests))]


async def the_gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def enter(request: Request) -> Entry:
    state = request.app.state
    credential = _credential(state.gateway, request)
    state.caller_limit.spend(credential.digest)
    return Entry(state.gateway, credential, state.known_tokens)


async def require_caller(request: Request) -> None:
    """For a request that is refused before its work was begun, and so before its token was looked up: a stranger is
    told that it is one (401), and nothing about what it asked for."""
    route = request.scope.get("route")
    if isinstance(route, APIRoute) and any(each.call is enter for each in route.dependant.dependencies):
        await (await enter(request)).caller()


def _credential(gateway: Gateway, request: Request) -> Credential:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("unauthenticated", "Send the header Authorization: Bearer <token>.")
        digest = gateway.hasher.hash(token.strip())
        return Credential(digest, "api", gateway.owner_id if gateway.is_owner_token(digest) else None)
    secret = request.cookies.get(COOKIE)
    if secret is None:
        raise Unauthenticated("unauthenticated", "Send a bearer token, or sign in with a browser.")
    if request.method not in _SAFE:
        require_own_page(request)
    return Credential(gateway.hasher.hash(secret), "session")


def require_own_page(request: Request) -> None:
    """A browser says where a request comes from. One that a foreign page made, or that does not say, is refused."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site == "same-origin"
    else:
        own = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    if not own and origin not in request.app.state.gateway.settings.allowed_origins:
        raise Forbidden("cross_site", "This request did not come from a page of this gateway.")


def https(gateway: Gateway) -> bool:
    return gateway.settings.public_url.startswith("https://")


TheEntry = Annotated[Entry, Depends(enter)]
TheGateway = Annotated[Gateway, Depends(the_gateway)]
