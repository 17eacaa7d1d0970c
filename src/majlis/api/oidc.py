"""Sign-in by OpenID Connect (G13): the authorization code flow with PKCE, state and nonce. Authlib makes the requests,
joserfc verifies the ID token. Both are imported when they are used: most gateways have no provider."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from majlis.errors import Unauthenticated, Unavailable
from majlis.settings import Settings

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import AsyncOAuth2Client
    from joserfc.jwk import KeySet

# Asymmetric only: with a shared secret, every client of the provider could sign.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
_TIMEOUT_SECONDS = 10
_KEPT_SECONDS = 3600
_LEEWAY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sign-in: kept in a cookie of the browser that began it, so that no other browser can finish it."""

    state: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def to_cookie(self) -> str:
        return ".".join((self.state, self.nonce, self.verifier))

    @classmethod
    def from_cookie(cls, text: str | None) -> Attempt | None:
        parts = (text or "").split(".")
        return cls(*parts) if len(parts) == 3 and all(parts) else None


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as the provider knows them. `email` is set only if the provider has verified it."""

    subject: str
    email: str | None
    name: str | None


class Provider:
    """The provider of the settings. Its metadata and keys are kept for an hour."""

    def __init__(self, settings: Settings) -> None:
        self._issuer = settings.oidc_issuer
        self._client_id = settings.oidc_client_id
        secret = settings.oidc_client_secret
        self._secret = secret.get_secret_value() if secret else None
        self._metadata: dict[str, Any] = {}
        self._keys: KeySet | None = None
        self._read_at = -float(_KEPT_SECONDS)
        self._lock = asyncio.Lock()

    async def start(self, attempt: Attempt, redirect_uri: str) -> str:
        """The address of the provider's sign-in page."""
        await self._load()
        async with self._client(redirect_uri) as client:
            url, _ = client.create_authorization_url(
                self._metadata["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url)

    async def finish(self, attempt: Attempt, code: str, redirect_uri: str) -> Identity:
        await self._load()
        try:
            async with self._client(redirect_uri) as client:
                given = await client.fetch_token(
                    self._metadata["token_endpoint"], code=code, code_verifier=attempt.verifier
                )
        except Exception as error:
            raise _refused(f"the provider did not accept the sign-in ({type(error).__name__})") from None
        claims = await self._verified(str(given.get("id_token") or ""), attempt.nonce)
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Identity(str(claims["sub"]), email, claims.get("name") or claims.get("preferred_username"))

    async def _verified(self, id_token: str, nonce: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        for fresh in (False, True):
            if fresh:
                # The provider may have new keys.
                await self._load(again=True)
            assert self._keys is not None
            try:
                claims = jwt.decode(id_token, self._keys, algorithms=_ALGORITHMS).claims
                break
            except (JoseError, ValueError) as error:
                problem = type(error).__name__
        else:
            raise _refused(f"the provider's token could not be verified ({problem})")
        registry = JWTClaimsRegistry(
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._issuer},
            sub={"essential": True},
            aud={"essential": True, "value": self._client_id},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            registry.validate(claims)
        except JoseError as error:
            raise _refused(f"the provider's token is not for this sign-in ({error})") from None
        if claims.get("azp", self._client_id) != self._client_id:
            raise _refused("the provider's token is for another client")
        return claims

    def _client(self, redirect_uri: str) -> AsyncOAuth2Client:
        from authlib.integrations.httpx_client import AsyncOAuth2Client

        return AsyncOAuth2Client(
            client_id=self._client_id,
            client_secret=self._secret,
            scope="openid email profile",
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            timeout=_TIMEOUT_SECONDS,
        )

    async def _load(self, again: bool = False) -> None:
        import httpx2
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        async with self._lock:
            if not again and time.monotonic() - self._read_at < _KEPT_SECONDS:
                return
            try:
                async with httpx2.AsyncClient(timeout=_TIMEOUT_SECONDS) as http:
                    where = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
                    metadata = (await http.get(where)).raise_for_status().json()
                    keys = (await http.get(metadata["jwks_uri"])).raise_for_status().json()
                    self._keys = KeySet.import_key_set(keys)
            except (httpx2.HTTPError, JoseError, KeyError, TypeError, ValueError) as error:
                problem = f"The sign-in provider cannot be used ({type(error).__name__}). Try again, or use a token."
                raise Unavailable("provider_unavailable", problem) from None
            if metadata.get("issuer") != self._issuer:
                raise Unavailable("provider_unavailable", "The sign-in provider has another issuer than the settings.")
            self._metadata, self._read_at = metadata, time.monotonic()


def _refused(problem: str) -> Unauthenticated:
    return Unauthenticated("sign_in_refused", f"You were not signed in: {problem}.")
