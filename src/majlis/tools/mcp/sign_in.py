"""Signs the gateway in to a remote MCP server: finds its authorization server, registers there, and makes the link that
an admin opens; then takes the answer. The package's own client does discovery and registration."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlencode, urlsplit

import httpx2
import orjson
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.client.auth.oauth2 import PKCEParameters
from mcp.client.auth.utils import issuers_match
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl

from majlis import clock
from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated, Unavailable
from majlis.hosts import parse_target
from majlis.secret_store import SecretStore, check_name, put_secret
from majlis.store.transactions import Database
from majlis.tools.mcp.oauth import Pending, SignIn, ask_for_tokens, parse_sign_in
from majlis.tools.mcp.transports import checked_client
from majlis.tools.reach.reach import Reach

# It logs failures with a traceback, and raises them as well.
logging.getLogger("mcp.client.auth.oauth2").setLevel(logging.CRITICAL)
_MINUTES = 15
_WE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "majlis", "version": "1"}}
_INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _WE}
# Some servers ask for a sign-in only now.
_LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
_ACCEPT = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """`client_id`: of a client that was registered at the authorization server by hand."""

    name: str
    url: str
    scope: str | None = None
    client_id: str | None = None
    client_secret: str | None = None


@dataclass(frozen=True, slots=True)
class Starter:
    """The member who began a sign-in, for the audit log."""

    id: str
    name: str


async def begin(
    db: Database, store: SecretStore, reach: Reach, caller: Caller, wanted: Wanted, back: str
) -> dict[str, Any]:
    """The page that an admin has to open. `back` is where the authorization server sends the admin's browser."""
    name, url = wanted.name, wanted.url
    check_name(name)
    target = parse_target(url)
    reach.check_host(target)
    earlier = await _earlier(store, name)
    found = await _discover(wanted, back, earlier, reach)
    nonce = secrets.token_urlsafe(16)
    until = clock.now() + _MINUTES * 60_000
    pending = Pending(nonce=nonce, verifier=found.pkce.code_verifier, until=until)
    same = earlier is not None and earlier.url == url and earlier.client_id == found.sign_in.client_id
    tokens = earlier.tokens if earlier is not None and same else None
    sign_in = found.sign_in.model_copy(update={"pending": pending, "tokens": tokens})
    await db.write(put_secret, caller, store.cipher, name, sign_in.dump(), [target.authority])
    state = store.cipher.seal(
        "mcp-sign-in", orjson.dumps({"name": name, "nonce": nonce, "by": [caller.id, caller.name]}).decode()
    )
    return {"name": name, "url": url, "authorizationUrl": found.link(state), "expiresAt": iso(until)}


async def finish(store: SecretStore, reach: Reach, state: str, code: str, iss: str | None) -> str:
    """Takes the authorization server's answer. Returns the name of the sign-in."""
    try:
        begun = orjson.loads(store.cipher.open("mcp-sign-in", state))
        name, nonce, by = begun["name"], begun["nonce"], Starter(*begun["by"])
    except Exception:
        raise Unauthenticated("sign_in_refused", "This sign-in was not started here.") from None
    sealed, value = await store.opened(name)
    sign_in = parse_sign_in(value)
    pending = sign_in.pending if sign_in is not None else None
    if sign_in is None or pending is None or pending.nonce != nonce or pending.until < clock.now():
        raise Unauthenticated("sign_in_refused", "This sign-in has expired or was started again. Use the newest link.")
    if (iss is not None or sign_in.names_issuer) and not issuers_match(iss or "", sign_in.issuer or ""):
        raise Unauthenticated("sign_in_refused", "The answer came from another authorization server.")
    if not code:
        raise Unauthenticated("sign_in_refused", "The authorization server did not allow it, or it was canceled.")
    data = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": sign_in.redirect_uri,
        "code_verifier": pending.verifier,
    }
    tokens = await ask_for_tokens(sign_in, data, reach)
    done = sign_in.model_copy(update={"pending": None, "tokens": tokens, "refreshing_until": 0})
    if await store.swap(name, sealed, done.dump(), by) is None:
        raise Conflict("sign_in_changed", "This sign-in has changed in the meantime. Start it again.")
    return str(name)


async def _earlier(store: SecretStore, name: str) -> SignIn | None:
    try:
        _, value = await store.opened(name)
    except (NotFound, Forbidden):
        return None
    found = parse_sign_in(value)
    if found is None:
        raise Conflict("name_taken", f"There is a stored secret {name} already. Choose another name.")
    return found


@dataclass(frozen=True, slots=True)
class _Found:
    sign_in: SignIn
    endpoint: str
    pkce: PKCEParameters
    scope: str | None
    redirect_uri: str

    def link(self, state: str) -> str:
        asked = {
            "response_type": "code",
            "client_id": self.sign_in.client_id,
            "redirect_uri": self.redirect_uri,
            "state": state,
            "code_challenge": self.pkce.code_challenge,
            "code_challenge_method": "S256",
        }
        if self.sign_in.resource is not None:
            asked["resource"] = self.sign_in.resource
        if self.scope:
            asked["scope"] = self.scope
            if "offline_access" in self.scope.split():
                asked["prompt"] = "consent"
        return f"{self.endpoint}{'&' if urlsplit(self.endpoint).query else '?'}{urlencode(asked)}"


class _Begun(BaseException):
    """Discovery and registration are done. Not an Exception: the package would log it as a failure."""


class _Discovery(OAuthClientProvider):
    """Stops where the package would wait for a person."""

    async def _perform_authorization(self) -> NoReturn:
        raise _Begun


class _Known:
    """The registration of an earlier sign-in to the same server, used again."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        pass

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


async def _discover(wanted: Wanted, back: str, earlier: SignIn | None, reach: Reach) -> _Found:
    url, scope = wanted.url, wanted.scope
    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(back)],
        client_name="Majlis",
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope=scope,
    )
    provider = _Discovery(url, metadata, _Known(_registered(wanted, back, earlier)))
    try:
        async with checked_client({}, reach, auth=provider) as client:
            response = await client.post(url, json=_INITIALIZE, headers=_ACCEPT)
            if response.is_success:
                session = response.headers.get("mcp-session-id")
                more = {"mcp-protocol-version": "2025-11-25"} | ({"mcp-session-id": session} if session else {})
                response = await client.post(url, json=_LIST, headers={**_ACCEPT, **more})
    except _Begun:
        return _found(provider, url, scope, back)
    except (OAuthFlowError, httpx2.HTTPError, ValueError) as error:
        words = str(error).partition("\n")[0][:300] or type(error).__name__
        raise Unavailable("sign_in_failed", f"The sign-in could not be started: {words}") from None
    raise Invalid(
        "no_sign_in", f"The server answered {response.status_code} without asking for a sign-in. Use it without oauth."
    )


def _registered(wanted: Wanted, back: str, earlier: SignIn | None) -> OAuthClientInformationFull | None:
    if wanted.client_id is not None:
        return OAuthClientInformationFull(
            client_id=wanted.client_id, client_secret=wanted.client_secret, redirect_uris=[AnyUrl(back)]
        )
    if earlier is None or earlier.url != wanted.url or earlier.redirect_uri != back:
        return None
    return OAuthClientInformationFull(
        client_id=earlier.client_id,
        client_secret=earlier.client_secret,
        token_endpoint_auth_method=earlier.auth_method,
        redirect_uris=[AnyUrl(back)],
        issuer=earlier.issuer,
    )


def _found(provider: OAuthClientProvider, url: str, scope: str | None, back: str) -> _Found:
    context = provider.context
    known, client = context.oauth_metadata, context.client_info
    if client is None or client.client_id is None:
        raise Unavailable("sign_in_failed", "The authorization server gave the gateway no client id.")
    # Before 2025-06-18, a server without metadata has these.
    base = context.get_authorization_base_url(url)
    endpoint = str(known.authorization_endpoint) if known is not None else f"{base}/authorize"
    if urlsplit(endpoint).scheme not in ("http", "https"):
        raise Unavailable("sign_in_failed", "The authorization server's page is not an http or https URL.")
    sign_in = SignIn(
        url=url,
        client_id=client.client_id,
        client_secret=client.client_secret,
        auth_method=client.token_endpoint_auth_method or _method(client, known),
        redirect_uri=back,
        token_endpoint=str(known.token_endpoint) if known is not None else f"{base}/token",
        issuer=str(known.issuer) if known is not None else None,
        names_issuer=bool(known is not None and known.authorization_response_iss_parameter_supported),
        resource=context.get_resource_url() if context.protected_resource_metadata is not None else None,
    )
    return _Found(sign_in, endpoint, PKCEParameters.generate(), scope or context.client_metadata.scope, back)


def _method(client: OAuthClientInformationFull, known: OAuthMetadata | None) -> str | None:
    """For a client that was registered by hand. The default of OAuth is basic."""
    methods = (known.token_endpoint_auth_methods_supported if known is not None else None) or ["client_secret_basic"]
    if client.client_secret is None:
        return None
    return "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
