"""The way in, for a browser: the one-time link and signing in. Plain pages, which work before anything else does.

The files of `api/page` are read once, at import. A request only ever names one of them, so no path leads elsewhere.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from majlis.api.auth import TheGateway, require_own_page
from majlis.api.error_responses import error_response
from majlis.api.routes.session import limit_sign_in, open_session, set_cookie
from majlis.entities.sessions import find_code_owner
from majlis.errors import MajlisError, NotFound, Unauthenticated

router = APIRouter(tags=["pages"], include_in_schema=False)

# HEAD as well: those who preview a link or watch a server ask with it.
LOOKING = ["GET", "HEAD"]
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOLDER = files("majlis.api").joinpath("page")


@router.api_route("/sign-in/{code}", methods=LOOKING)
async def look_at_link(gateway: TheGateway, code: str) -> Response:
    """Only looks: previews and prefetching must not use the link up."""
    caller = await gateway.db.read(find_code_owner, gateway.hasher, code)
    return page("sign-in-link.html", {"name": caller.name}) if caller else page("link-expired.html", status=401)


@router.post("/sign-in/{code}")
async def use_link(gateway: TheGateway, request: Request, code: str) -> Response:
    try:
        require_own_page(request)
        limit_sign_in(request)
        _, secret = await open_session(gateway, code, None)
    except Unauthenticated:
        return page("link-expired.html", status=401)
    except MajlisError as refusal:
        return _refused(refusal)
    answer = RedirectResponse("/", 303, {"Cache-Control": "no-store"})
    set_cookie(answer, gateway, secret)
    return answer


@router.api_route("/page/{name}", methods=LOOKING)
async def asset(name: str, known: Annotated[str | None, Header(alias="If-None-Match")] = None) -> Response:
    found = _ASSETS.get(name)
    if found is None:
        raise NotFound("unknown_page", "There is no such file.")
    # Asked for again each time, so that a page never runs with a file of another version.
    headers = {"ETag": found.etag, "Cache-Control": "no-cache"}
    if known is not None and found.etag in known:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)


@dataclass(frozen=True, slots=True)
class _Asset:
    content: bytes
    media_type: str
    etag: str


def render(template: str, values: Mapping[str, str]) -> str:
    """Every value is escaped here, whatever it is; no other way leads into a page."""
    return Template(template).substitute({name: escape(value) for name, value in values.items()})


def page(name: str, values: Mapping[str, str] | None = None, status: int = 200) -> HTMLResponse:
    content = render(PAGES[name], values or {})
    return HTMLResponse(content, status, {"Cache-Control": "no-store"})


def _refused(refusal: MajlisError) -> Response:
    answer = page("sign-in-failed.html", {"message": refusal.message}, refusal.status)
    retry_after = error_response(refusal).headers.get("Retry-After")
    if retry_after is not None:
        answer.headers["Retry-After"] = retry_after
    return answer


def _read_pages() -> dict[str, str]:
    """A page's file has what is its own, for the head and after an empty line for the body; the rest is one frame."""
    parts = {file.name: file.read_text("utf-8") for file in _FOLDER.iterdir() if file.name.endswith(".html")}
    frame = parts.pop("frame.html")
    return {name: _framed(frame, *text.rstrip().split("\n\n", 1)) for name, text in parts.items()}


def _framed(frame: str, head: str, body: str) -> str:
    return frame.replace("<!-- head -->", head).replace("<!-- body -->", body)


def _read_assets() -> dict[str, _Asset]:
    found: dict[str, _Asset] = {}
    for file in _FOLDER.iterdir():
        _, dot, ending = file.name.rpartition(".")
        media_type = _TYPES.get(dot + ending)
        if media_type is not None:
            content = file.read_bytes()
            digest = urlsafe_b64encode(sha256(content).digest()[:12]).decode()
            found[file.name] = _Asset(content, media_type, f'"{digest}"')
    return found


PAGES = _read_pages()
_ASSETS = _read_assets()
