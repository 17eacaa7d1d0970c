"""The gateway's sign-ins to remote MCP servers (OAuth): tokens in the secret store, refreshed by one process at a time.

The stored value is JSON. No config can read it: it is sent only as a token, and only to its server.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import httpx2
import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from majlis import clock
from majlis.errors import Forbidden, MajlisError, NotFound, Unavailable
from majlis.hosts import parse_target
from majlis.secret_store import Secret, SecretStore
from majlis.tools.mcp.servers import SIGN_IN_NEEDED
from majlis.tools.mcp.transports import checked_client
from majlis.tools.reach.reach import Reach

MAX_STORED = 64 * 1024
# A token is replaced this long before it ends.
_MARGIN_MILLIS = 30_000
_CLAIM_MILLIS = 20_000
_LOOK_SECONDS = 0.2
_NOTED_EVERY = 60_000
_REFUSED = (400, 401)


class Tokens(BaseModel):
    model_config = ConfigDict(extra="ignore")

    access_token: str
    refresh_token: str | None = None
    scope: str | None = None
    expires_in: float | None = None
    # When the token ends, in milliseconds; None if the server did not say.
    expires_at: int | None = None


class Pending(BaseModel):
    """A sign-in that was begun. The answer to it has to carry the `nonce`."""

    nonce: str
    verifier: str
    until: int


class SignIn(BaseModel):
    model_config = ConfigDict(extra="ignore")

    kind: str = "mcp-sign-in"
    url: str
    client_id: str
    client_secret: str | None = None
    auth_method: str | None = None
    redirect_uri: str
    token_endpoint: str
    issuer: str | None = None
    # The issuer is also in the answer.
    names_issuer: bool = False
    resource: str | None = None
    tokens: Tokens | None = None
    pending: Pending | None = None
    # While a process asks for new tokens, no other does: many servers accept a refresh token once.
    refreshing_until: int = 0

    def dump(self) -> str:
        text = self.model_dump_json(exclude_none=True)
        if len(text) > MAX_STORED:
            raise Unavailable("sign_in_failed", "the tokens of the server are too long to be stored")
        return text


def parse_sign_in(value: str) -> SignIn | None:
    """None for another secret."""
    try:
        found = SignIn.model_validate_json(value)
    except ValidationError:
        return None
    return found if found.kind == "mcp-sign-in" else None


class SignedIn:
    """One sign-in, for the connections of this process that use it."""

    def __init__(self, name: str, url: str, store: SecretStore, reach: Reach) -> None:
        self._name = name
        self._url = url
        self._store = store
        self._reach = reach
        self._lock = asyncio.Lock()
        self._noted_at: int | None = None
        # Why the server refused the last call, for an admin.
        self.complaint: str | None = None

    async def check(self) -> None:
        """Before a call. Raises if no admin has signed in, or if the sign-in has ended."""
        await self.token()
        noted = self._noted_at
        if noted is None or clock.now() - noted >= _NOTED_EVERY:
            self._noted_at = clock.now()
        await self._store.note_use(Secret(self._name, "", (), False, noted), parse_target(self._url))

    async def token(self, not_this: str | None = None) -> str:
        """A token that still holds. `not_this` is one that the server has refused."""
        async with self._lock:
            while True:
                sealed, sign_in = await self._load()
                tokens = sign_in.tokens
                if tokens is None:
                    raise self._needed()
                if tokens.access_token != not_this and not _is_ending(tokens):
                    return tokens.access_token
                if tokens.refresh_token is None:
                    raise self._needed()
                if sign_in.refreshing_until > clock.now():
                    await asyncio.sleep(_LOOK_SECONDS)
                    continue
                claim = sign_in.model_copy(update={"refreshing_until": clock.now() + _CLAIM_MILLIS})
                claimed = await self._store.swap(self._name, sealed, claim.dump())
                if claimed is not None:
                    return await self._refresh(claimed, claim, tokens)

    def refuse(self, challenge: str) -> None:
        """The server wants more scopes for a call."""
        found = re.search(r'scope="([A-Za-z0-9:._/ -]{1,500})"', challenge)
        scope = found[1] if found is not None else "…"
        self.complaint = (
            f"the server wants more scopes than the sign-in {self._name} has. Ask an admin of this gateway to run "
            f"majlis mcp sign-in {self._name} {self._url} --scope '{scope}'"
        )

    async def _refresh(self, sealed: str, sign_in: SignIn, old: Tokens) -> str:
        free = sign_in.model_copy(update={"refreshing_until": 0})
        data = {"grant_type": "refresh_token", "refresh_token": old.refresh_token or ""}
        try:
            tokens = await ask_for_tokens(sign_in, data, self._reach)
        except Forbidden:
            await self._store.swap(self._name, sealed, free.model_copy(update={"tokens": None}).dump())
            raise self._needed() from None
        except BaseException:
            await self._store.swap(self._name, sealed, free.dump())
            raise
        kept = {"refresh_token": tokens.refresh_token or old.refresh_token, "scope": tokens.scope or old.scope}
        tokens = tokens.model_copy(update=kept)
        await self._store.swap(self._name, sealed, free.model_copy(update={"tokens": tokens}).dump())
        self._mask(tokens)
        return tokens.access_token

    async def _load(self) -> tuple[str, SignIn]:
        try:
            sealed, value = await self._store.opened(self._name)
        except NotFound:
            raise self._needed() from None
        sign_in = parse_sign_in(value)
        if sign_in is None:
            raise Forbidden("not_a_sign_in", f"the secret {self._name} is not a sign-in to an MCP server.")
        if sign_in.url != self._url:
            raise Forbidden("another_server", f"the sign-in {self._name} is for another server than this URL.")
        if sign_in.tokens is not None:
            self._mask(sign_in.tokens)
        return sealed, sign_in

    def _mask(self, tokens: Tokens) -> None:
        self._store.read[self._name] = tokens.access_token
        if tokens.refresh_token is not None:
            self._store.read[f"{self._name} (refresh)"] = tokens.refresh_token

    def _needed(self) -> MajlisError:
        return Unavailable(
            SIGN_IN_NEEDED,
            f"the sign-in {self._name} is not complete, or has ended. Ask an admin of this gateway to run "
            f"majlis mcp sign-in {self._name} {self._url}",
        )


class BearerAuth(httpx2.Auth):
    def __init__(self, signed_in: SignedIn) -> None:
        self._signed_in = signed_in

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._token(request)
        response = yield self._with(request, token)
        if response.status_code == 401:
            response = yield self._with(request, await self._token(request, token))
        asked = response.headers.get("www-authenticate", "")
        if response.status_code == 403 and "insufficient_scope" in asked:
            self._signed_in.refuse(asked)

    async def _token(self, request: httpx2.Request, not_this: str | None = None) -> str:
        try:
            return await self._signed_in.token(not_this)
        except MajlisError as error:
            raise httpx2.ConnectError(error.message, request=request) from error

    def _with(self, request: httpx2.Request, token: str) -> httpx2.Request:
        request.headers["authorization"] = f"Bearer {token}"
        return request


async def ask_for_tokens(sign_in: SignIn, data: dict[str, str], reach: Reach) -> Tokens:
    """Raises Forbidden if the server refuses the grant."""
    headers = {"accept": "application/json"}
    data = {**data, "client_id": sign_in.client_id, **({"resource": sign_in.resource} if sign_in.resource else {})}
    secret = sign_in.client_secret
    if secret is not None and sign_in.auth_method == "client_secret_basic":
        pair = f"{quote(sign_in.client_id, safe='')}:{quote(secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif secret is not None:
        data["client_secret"] = secret
    try:
        async with checked_client({}, reach) as client:
            response = await client.post(sign_in.token_endpoint, data=data, headers=headers)
            found = _json(await response.aread())
    except httpx2.HTTPError as error:
        host = parse_target(sign_in.token_endpoint).authority
        reason = str(error)[:200] or type(error).__name__
        raise Unavailable("sign_in_failed", f"{host} did not answer: {reason}") from None
    passing = response.status_code >= 500 or response.status_code == 429
    if not passing and ("error" in found or response.status_code in _REFUSED):
        raise Forbidden("sign_in_refused", f"the server refused to give tokens: {_reason(found, response.status_code)}")
    if response.status_code not in (200, 201):
        raise Unavailable("sign_in_failed", f"the server gave no tokens: {_reason(found, response.status_code)}")
    try:
        tokens = Tokens.model_validate(found)
    except ValidationError:
        raise Unavailable("sign_in_failed", "the server's answer has no tokens") from None
    if tokens.expires_in is None:
        return tokens
    return tokens.model_copy(update={"expires_at": clock.now() + int(tokens.expires_in * 1000)})


def _is_ending(tokens: Tokens) -> bool:
    return tokens.expires_at is not None and tokens.expires_at - _MARGIN_MILLIS <= clock.now()


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _reason(found: dict[str, Any], status: int) -> str:
    words = found.get("error_description") or found.get("error") or f"status {status}"
    return str(words)[:200]
