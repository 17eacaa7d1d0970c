"""Browser sessions: sign in with a one-time code or a token, sign out."""

from __future__ import annotations

from fastapi import Request, Response

from majlis.api.auth import TheEntry, TheGateway, cookie_name, over_https, require_own_page
from majlis.api.bodies import SignIn, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.entities import sessions
from majlis.entities.caller import Caller
from majlis.entities.entities import read_me
from majlis.entities.shapes import MeJson
from majlis.errors import Invalid
from majlis.foundation import owner_caller
from majlis.gateway import Gateway
from majlis.store.transactions import Tx

router = new_router("session")


@router.post("/api/session", status_code=201, response_model=MeJson, responses=refusals())
async def sign_in(gateway: TheGateway, request: Request, body: SignIn) -> Response:
    """Signs in: the response sets the session cookie."""
    require_own_page(request)
    limit_sign_in(request)
    caller, secret = await open_session(gateway, body.code, body.token)
    answer = reply(await gateway.db.read(read_me, caller), 201)
    set_cookie(answer, request, secret)
    return answer


@router.delete("/api/session", status_code=204, responses=refusals())
async def end(entry: TheEntry, request: Request) -> Response:
    await entry.write(sessions.sign_out)
    answer = nothing()
    name, secure = cookie_name(request), over_https(request)
    answer.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=secure)
    return answer


async def open_session(gateway: Gateway, code: str | None, token: str | None) -> tuple[Caller, str]:
    if code is not None and token is None:
        return await gateway.db.write(sessions.sign_in_with_code, gateway.hasher, code)
    if token is not None and code is None:
        if gateway.hasher.is_owner(gateway.hasher.hash(token)):
            return await gateway.db.write(_sign_in_owner, gateway)
        return await gateway.db.write(sessions.sign_in_with_token, gateway.hasher, token)
    raise Invalid("invalid_request", "Send either code or token.", {"path": "code"})


def _sign_in_owner(tx: Tx, gateway: Gateway) -> tuple[Caller, str]:
    caller = owner_caller(tx, gateway.owner_id, gateway.hasher.owner_token)
    return caller, sessions.open_session(tx, gateway.hasher, caller, "owner token")


def limit_sign_in(request: Request) -> None:
    request.app.state.sign_in_limit.spend(request.client.host if request.client else "unknown")


def set_cookie(answer: Response, request: Request, secret: str) -> None:
    name, secure = cookie_name(request), over_https(request)
    seconds = sessions.SESSION_MILLIS // 1000
    answer.set_cookie(name, secret, max_age=seconds, path="/", httponly=True, samesite="lax", secure=secure)
