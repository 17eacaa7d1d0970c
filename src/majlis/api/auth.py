"""Authenticates requests, by a bearer token or by a session cookie on a request from our own pages, and limits how many
a caller may send.

A route gets an `Entry` instead of a caller: it looks up the token in the transaction that does the work. That saves a
round trip, and a token that is revoked meanwhile gives no access.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Concatenate
from urllib.parse import urlsplit

import sqlalchemy as sa
from fastapi import Depends, Request
from fastapi.routing import APIRoute

from majlis import metrics
from majlis.entities.caller import Caller
from majlis.entities.scopes import Scope, missing_scope
from majlis.entities.tokens import TokenKind, ask_caller, caller_in, find_caller, invalid_token
from majlis.errors import Forbidden, TooMany, Unauthenticated
from majlis.foundation import owner_caller
from majlis.gateway import Gateway
from majlis.store.transactions import P, T, Tx

COOKIE = "majlis_session"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REMEMBERED = 10_000
_SWEEP_BUCKETS_AT = 10_000
_ANY_SCOPE = frozenset({"/api/me", "/api/session"})
_ADMINISTRATION = (
    "/api/entities", "/api/agents", "/api/tokens", "/api/access", "/api/spaces/all", "/api/secrets", "/api/audit",
    "/api/budgets", "/api/pause", "/api/models", "/api/system", "/api/mcp-sign-ins",
)  # fmt: skip


InDatabase = Callable[[Callable[[Tx], tuple[Caller, T]]], Awaitable[tuple[Caller, T]]]


class CallerChanged(Exception):
    """A token's caller is not the one that it was. The transaction must not commit."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The credential that a request was sent with, not yet verified."""

    digest: str
    kind: TokenKind
    # The owner's id and its token's `parent_id`, for the fixed token of the settings.
    owner_id: str | None = None
    owner_token: str | None = None
    # The request needs one of these.
    needs: tuple[Scope, ...] = ()

    def identify(self, tx: Tx) -> Caller:
        return self._allowed(self._find(tx))

    def begin(self, tx: Tx, work: Callable[[Tx, Caller], T]) -> tuple[Caller, T]:
        caller = self.identify(tx)
        return caller, work(tx, caller)

    def presume(self, tx: Tx, known: Caller, work: Callable[[Tx, Caller], T]) -> tuple[Caller, T]:
        """Works as the known caller, and looks up the token in the round trip of the work's first statement. If that
        finds another caller, or none, nothing is committed or told."""
        found = ask_caller(tx, self.digest, self.kind)
        try:
            result = work(tx, self._allowed(known))
        except sa.exc.DBAPIError:
            raise
        except Exception:
            self._check_same(found, known)
            raise
        self._check_same(found, known)
        return known, result

    def _check_same(self, found: sa.CursorResult[Any], known: Caller) -> None:
        if caller_in(found, self.kind) != known:
            raise CallerChanged

    def _allowed(self, caller: Caller) -> Caller:
        if self.needs and caller.scopes.isdisjoint(self.needs):
            raise missing_scope(caller.scopes, self.needs)
        return caller

    def _find(self, tx: Tx) -> Caller:
        if self.owner_id is not None:
            return owner_caller(tx, self.owner_id, self.owner_token)
        caller = find_caller(tx, self.digest, self.kind)
        if caller is None and self.kind == "session":
            raise Unauthenticated("session_ended", "Your session has ended. Sign in again.")
        if caller is None:
            raise invalid_token()
        return caller


@dataclass(slots=True)
class Entry:
    """Runs `work(tx, caller, …)` on behalf of the caller."""

    _gateway: Gateway
    _credential: Credential
    _known: KnownTokens

    async def write(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._check_first_use()
        return await self._run(self._gateway.db.write, lambda tx, caller: work(tx, caller, *args, **kwargs))

    async def write_brief(
        self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._check_first_use()
        return await self._run(self._gateway.db.write_brief, lambda tx, caller: work(tx, caller, *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(self._gateway.db.read, lambda tx, caller: work(tx, caller, *args, **kwargs))

    async def snapshot(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(self._gateway.db.snapshot, lambda tx, caller: work(tx, caller, *args, **kwargs))

    async def _run(self, in_database: InDatabase[T], work: Callable[[Tx, Caller], T]) -> T:
        """Saves a round trip to PostgreSQL if the token was used before."""
        known = self._known.get(self._credential.digest)
        if known is not None and self._gateway.db.dialect == "postgresql" and self._credential.owner_id is None:
            try:
                return (await in_database(lambda tx: self._credential.presume(tx, known, work)))[1]
            except CallerChanged:
                self._known.forget(self._credential.digest)
            except sa.exc.DBAPIError:
                # The work may have failed after it was allowed to a caller who has lost access.
                self._known.forget(self._credential.digest)
                await self.caller()
                raise
        caller, result = await in_database(lambda tx: self._credential.begin(tx, work))
        self._known.add(self._credential.digest, caller)
        return result

    async def _check_first_use(self) -> None:
        """Checks a token that was not used before on a reader, so that invalid ones never queue for the writer."""
        if self._known.get(self._credential.digest) is None:
            await self.caller()

    def needing(self, *any_of: Scope) -> Entry:
        """An entry that needs these scopes instead of those of the request's method."""
        return Entry(self._gateway, replace(self._credential, needs=any_of), self._known)

    @property
    def digest(self) -> str:
        """The credential's digest, which tells callers apart and reveals no secret."""
        return self._credential.digest

    async def caller(self) -> Caller:
        caller = await self._gateway.db.read(self._credential.identify)
        self._known.add(self._credential.digest, caller)
        return caller


class KnownTokens:
    """Digests of tokens that were valid before, and their callers then; the oldest are dropped first. Gives no access
    by itself."""

    def __init__(self) -> None:
        self._callers: dict[str, Caller] = {}

    def get(self, digest: str) -> Caller | None:
        return self._callers.get(digest)

    def add(self, digest: str, caller: Caller) -> None:
        self._callers[digest] = caller
        if len(self._callers) > _REMEMBERED:
            del self._callers[next(iter(self._callers))]

    def forget(self, digest: str) -> None:
        self._callers.pop(digest, None)


@dataclass(slots=True)
class RateLimit:
    """A token bucket per caller or address, in the memory of this process."""

    name: str
    per_second: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    # key → (tokens left, at this time)
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def spend(self, key: str) -> None:
        if self.per_second <= 0:
            return
        now = self.clock()
        left, at = self._buckets.get(key, (float(self.burst), now))
        left = min(self.burst, left + (now - at) * self.per_second)
        if left < 1:
            self._buckets[key] = (left, now)
            metrics.limited.labels(self.name).inc()
            retry_after = math.ceil((1 - left) / self.per_second)
            raise TooMany("rate_limited", f"Too many requests. Try again in {retry_after} s.", retry_after)
        self._buckets[key] = (left - 1, now)
        if len(self._buckets) > _SWEEP_BUCKETS_AT:
            # Drop the buckets that are full again.
            full_after = self.burst / self.per_second
            self._buckets = {key: bucket for key, bucket in self._buckets.items() if now - bucket[1] < full_after}


async def the_gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def enter(request: Request) -> Entry:
    state = request.app.state
    credential = _credential(state.gateway, request)
    state.caller_limit.spend(credential.digest)
    return Entry(state.gateway, credential, state.known_tokens)


async def require_caller(request: Request) -> None:
    """Authenticates a request that failed before its work began, if its route requires a caller."""
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
        if gateway.hasher.is_owner(digest):
            return Credential(digest, "api", gateway.owner_id, gateway.hasher.owner_token)
        return Credential(digest, "api", needs=scopes_for(request))
    secret = request.cookies.get(cookie_name(request))
    if secret is None:
        raise Unauthenticated("unauthenticated", "Send a bearer token, or sign in with a browser.")
    if request.method not in _SAFE:
        require_own_page(request)
    return Credential(gateway.hasher.hash(secret), "session", needs=scopes_for(request))


def scopes_for(request: Request) -> tuple[Scope, ...]:
    """The scopes that a method needs. The domain also checks `approve` for permissions, and the role, which needs
    `admin`. That scope alone is enough for administration."""
    path: str = request.scope["path"]
    if path in _ANY_SCOPE:
        return ()
    scope: Scope = "read" if request.method in _SAFE else "write"
    if path.endswith(("/tool-results", "/answers")):
        return scope, "approve"
    return (scope, "admin") if path.startswith(_ADMINISTRATION) else (scope,)


def over_https(request: Request) -> bool:
    """True for a request over HTTPS: directly, through a trusted proxy, or by the settings."""
    https: bool = request.app.state.gateway.settings.https
    return https or request.url.scheme == "https"


def base_url(request: Request) -> str:
    """The address in links to this gateway: of the settings, else the one that the request was sent to."""
    url: str = request.app.state.gateway.settings.public_url or str(request.base_url)
    return url.rstrip("/")


def cookie_name(request: Request) -> str:
    """Browsers accept a `__Host-` cookie only over https, and from this host alone, not from its subdomains."""
    return f"__Host-{COOKIE}" if over_https(request) else COOKIE


def require_own_page(request: Request) -> None:
    """Rejects requests from other sites' pages, and browser requests that do not name their origin."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site == "same-origin"
    else:
        own = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    if not own and origin not in request.app.state.gateway.settings.allowed_origins:
        raise Forbidden("cross_site", "This request came from another site. Open Majlis at its own URL and try again.")


TheEntry = Annotated[Entry, Depends(enter)]
TheGateway = Annotated[Gateway, Depends(the_gateway)]
