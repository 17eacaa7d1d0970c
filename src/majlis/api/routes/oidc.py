"""Sign-in by OpenID Connect: to the provider, and back from it."""

from __future__ import annotations

from hmac import compare_digest
from typing import Annotated

from fastapi import Query, Request, Response
from starlette.responses import RedirectResponse

from majlis.api.auth import TheGateway, base_url, over_https
from majlis.api.oidc import Attempt, Provider
from majlis.api.route import new_router
from majlis.api.routes.pages import page
from majlis.api.routes.session import limit_sign_in, set_cookie
from majlis.entities.sessions import sign_in_with_identity
from majlis.errors import MajlisError, NotFound, Unauthenticated

router = new_router("oidc", include_in_schema=False)

_COOKIE = "majlis_oidc"
_ATTEMPT_SECONDS = 600


@router.get("/oidc/start")
async def start(gateway: TheGateway, request: Request) -> Response:
    attempt = Attempt()
    try:
        limit_sign_in(request)
        url = await _provider(request).start(attempt, _callback(request))
    except MajlisError as refusal:
        return page(request, "oidc-failed.html", {"message": refusal.message}, refusal.status)
    answer = RedirectResponse(url, 303, {"Cache-Control": "no-store"})
    secure = over_https(request)
    name = f"__Host-{_COOKIE}" if secure else _COOKIE
    # Lax: the provider's redirect is a top-level navigation from another site.
    answer.set_cookie(
        name, attempt.to_cookie(), max_age=_ATTEMPT_SECONDS, path="/", httponly=True, samesite="lax", secure=secure
    )
    return answer


@router.get("/oidc/callback")
async def finish(
    gateway: TheGateway,
    request: Request,
    code: Annotated[str, Query(max_length=4096)] = "",
    state: Annotated[str, Query(max_length=256)] = "",
) -> Response:
    secure = over_https(request)
    name = f"__Host-{_COOKIE}" if secure else _COOKIE
    try:
        limit_sign_in(request)
        provider = _provider(request)
        attempt = Attempt.from_cookie(request.cookies.get(name))
        if attempt is None or not code or not compare_digest(attempt.state.encode(), state.encode()):
            raise Unauthenticated(
                "sign_in_refused", "This sign-in was not started in this browser, or was canceled. Sign in again."
            )
        identity = await provider.finish(attempt, code, _callback(request))
        settings = gateway.settings
        _, secret = await gateway.db.write(
            sign_in_with_identity,
            gateway.hasher,
            identity.subject,
            identity.email,
            identity.name,
            settings.oidc_sign_up,
        )
    except MajlisError as refusal:
        answer: Response = page(request, "oidc-failed.html", {"message": refusal.message}, refusal.status)
    else:
        answer = RedirectResponse("/", 303, {"Cache-Control": "no-store"})
        set_cookie(answer, request, secret)
    answer.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=secure)
    return answer


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.oidc
    if provider is None:
        raise NotFound("no_provider", "This gateway has no sign-in provider. Use a token or a sign-in link.")
    return provider


def _callback(request: Request) -> str:
    return f"{base_url(request)}/oidc/callback"
