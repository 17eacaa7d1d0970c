"""Invites to spaces, and the page that an invited person sees."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import Request, Response
from starlette.responses import RedirectResponse

from majlis.api.auth import TheEntry, TheGateway, base_url, enter, require_own_page
from majlis.api.bodies import NewInvite, PathId, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.api.routes.pages import GET, page
from majlis.api.routes.session import limit_sign_in, set_cookie
from majlis.clock import parse_iso
from majlis.entities.caller import Caller
from majlis.errors import MajlisError, TooMany, Unauthenticated
from majlis.gateway import Gateway
from majlis.spaces.invites import (
    InviteJson,
    NewInviteJson,
    create_invite,
    end_invite,
    find_invite,
    join_as_caller,
    join_as_new_person,
    list_invites,
)

router = new_router("invites")


@router.post("/api/spaces/{space_id}/invites", status_code=201, response_model=NewInviteJson, responses=refusals(404))
async def create(
    gateway: TheGateway, entry: TheEntry, request: Request, space_id: PathId, body: NewInvite | None = None
) -> Response:
    """A link that lets people join the space: new ones choose a name. For admins of the gateway who administer the
    space. The link is only in this response."""
    asked = body or NewInvite()
    expires_at = parse_iso(asked.expires_at) if asked.expires_at else None
    arguments = gateway.hasher, space_id, asked.role, expires_at, asked.uses
    invite, code = await entry.write(create_invite, *arguments)
    return reply({**invite, "url": f"{base_url(request)}/invite/{code}"}, 201)


@router.get("/api/spaces/{space_id}/invites", response_model=list[InviteJson], responses=refusals(404))
async def list_of_space(entry: TheEntry, space_id: PathId) -> Response:
    """The invites that still work, newest first, without their links."""
    return reply(await entry.read(list_invites, space_id))


@router.delete("/api/spaces/{space_id}/invites/{invite_id}", status_code=204, responses=refusals(404))
async def end(entry: TheEntry, space_id: PathId, invite_id: PathId) -> Response:
    await entry.write(end_invite, space_id, invite_id)
    return nothing()


@router.api_route("/invite/{code}", methods=GET, include_in_schema=False)
async def look(gateway: TheGateway, request: Request, code: str) -> Response:
    """Does not use up the invite: browsers and chat apps prefetch links."""
    return await _page(gateway, request, code)


@router.post("/invite/{code}", include_in_schema=False)
async def accept(gateway: TheGateway, request: Request, code: str) -> Response:
    """Joins as the person who is signed in, or as a new person with the name from the form."""
    name = ""
    try:
        require_own_page(request)
        limit_sign_in(request)
        if (await _signed_in(request)) is not None:
            entry = await enter(request)
            return _open(await entry.write(join_as_caller, gateway.hasher, code))
        name = " ".join(parse_qs((await request.body()).decode("utf-8", "replace")).get("name", [""])[0].split())
        space_id, secret = await gateway.db.write(join_as_new_person, gateway.hasher, code, name)
    except Unauthenticated:
        return page(request, "invite-expired.html", status=401)
    except MajlisError as refusal:
        failed = await _page(gateway, request, code, name, refusal)
        if isinstance(refusal, TooMany):
            failed.headers["Retry-After"] = str(refusal.retry_after)
        return failed
    answer = _open(space_id)
    set_cookie(answer, request, secret)
    return answer


def _open(space_id: str) -> RedirectResponse:
    return RedirectResponse(f"/spaces/{space_id}", 303, {"Cache-Control": "no-store"})


async def _page(
    gateway: Gateway, request: Request, code: str, name: str = "", refusal: MajlisError | None = None
) -> Response:
    invite = await gateway.db.read(find_invite, gateway.hasher, code)
    if invite is None:
        return page(request, "invite-expired.html", status=401)
    values = {"space": invite.space_name, "creator": invite.creator_name, "problem": refusal.message if refusal else ""}
    status = refusal.status if refusal else 200
    caller = await _signed_in(request)
    if caller is not None:
        return page(request, "invite-join.html", {**values, "name": caller.name}, status)
    return page(request, "invite.html", {**values, "name": name}, status)


async def _signed_in(request: Request) -> Caller | None:
    try:
        return await (await enter(request)).caller()
    except Unauthenticated:
        return None
