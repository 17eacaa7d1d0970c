"""Browser sessions: sign in with a one-time code or a token, sign out."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from majlis.api.auth import COOKIE, TheEntry, TheGateway, require_own_page
from majlis.api.bodies import SignIn, nothing, reply
from majlis.api.error_responses import refusals
from majlis.entities import sessions
from majlis.entities.caller import Caller
from majlis.entities.shapes import MeJson, me_json
from majlis.errors import Invalid
from majlis.gateway import Gateway

router = APIRouter(tags=["session"])


@router.post("/api/session", status_code=201, response_model=MeJson, responses=refusals())
async def sign_in(gateway: TheGateway, request: Request, body: SignIn) -> Response:
    """Signs in: the response sets the session cookie."""
    require_own_page(request)
    limit_sign_in(request)
    caller, secret = await open_session(gateway, body.code, body.token)
    answer = reply(me_json(caller), 201)
    set_cookie(answer, gateway, secret)
    return answer


@router.delete("/api/session", status_code=204, responses=refusals())
async def end(entry: TheEntry) -> Response:
    await entry.write(sessions.sign_out)
    answer = nothing()
    answer.delete_cookie(COOKIE, path="/")
    return answer


async def open_session(gateway: Gateway, code: str | None, token: str | None) -> tuple[Caller, str]:
    if code is not None and token is None:
        return await gateway.db.write(sessions.sign_in_with_code, gateway.hasher, code)
    if token is not None and code is None:
        if gateway.hasher.is_owner(gateway.hasher.hash(token)):
            owners, _ = await gateway.db.write(sessions.issue_sign_in_code, gateway.hasher, gateway.owner_id)
            return await gateway.db.write(sessions.sign_in_with_code, gateway.hasher, owners)
        return await gateway.db.write(sessions.sign_in_with_token, gateway.hasher, token)
    raise Invalid("invalid_request", "Send either code or token.", {"path": "code"})


def limit_sign_in(request: Request) -> None:
    request.app.state.sign_in_limit.spend(request.client.host if request.client else "unknown")


def set_cookie(answer: Response, gateway: Gateway, secret: str) -> None:
    seconds, secure = sessions.SESSION_MILLIS // 1000, gateway.settings.https
    answer.set_cookie(COOKIE, secret, max_age=seconds, path="/", httponly=True, samesite="lax", secure=secure)
