"""The sign-in pages and the API's reference. They work without the web app.

The files of `api/page` are read at import, and a request only looks up their names, so no path leads elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Annotated, Any

from fastapi import Header, Request, Response
from starlette.responses import HTMLResponse, RedirectResponse

from majlis.api.auth import TheGateway, require_own_page
from majlis.api.bodies import reply
from majlis.api.reference.page import render_reference
from majlis.api.route import new_router
from majlis.api.routes.session import limit_sign_in, open_session, set_cookie
from majlis.entities.sessions import find_code_owner
from majlis.errors import MajlisError, NotFound, TooMany, Unauthenticated

router = new_router("pages", include_in_schema=False)

# Link previews and uptime monitors use HEAD.
GET = ["GET", "HEAD"]
_TYPES = {
    "css": "text/css",
    "js": "text/javascript",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
    "woff2": "font/woff2",
}
_WORKER = "service-worker.js"
_CHOSEN_LANGUAGE = "majlis_language"
_FOLDER = files("majlis.api").joinpath("page")


@router.api_route("/sign-in/{code}", methods=GET)
async def look_at_link(gateway: TheGateway, request: Request, code: str) -> Response:
    """Does not use up the link: browsers and chat apps prefetch links."""
    caller = await gateway.db.read(find_code_owner, gateway.hasher, code)
    return (
        page(request, "sign-in-link.html", {"name": caller.name})
        if caller
        else page(request, "link-expired.html", status=401)
    )


@router.post("/sign-in/{code}")
async def use_link(gateway: TheGateway, request: Request, code: str) -> Response:
    try:
        require_own_page(request)
        limit_sign_in(request)
        _, secret = await open_session(gateway, code, None)
    except Unauthenticated:
        return page(request, "link-expired.html", status=401)
    except MajlisError as refusal:
        failed = page(request, "sign-in-failed.html", {"message": refusal.message}, refusal.status)
        if isinstance(refusal, TooMany):
            failed.headers["Retry-After"] = str(refusal.retry_after)
        return failed
    answer = RedirectResponse("/", 303, {"Cache-Control": "no-store"})
    set_cookie(answer, request, secret)
    return answer


@router.api_route("/offline", methods=GET)
async def offline(request: Request) -> Response:
    """The service worker stores it, and shows it while the server cannot be reached."""
    return page(request, "offline.html")


@router.api_route("/page/{name}", methods=GET)
async def asset(name: str, known: Annotated[str | None, Header(alias="If-None-Match")] = None) -> Response:
    if name not in _ASSETS or name == _WORKER:
        raise NotFound("unknown_page", "There is no such file.")
    return _file(name, known)


@router.api_route(f"/{_WORKER}", methods=GET)
async def service_worker(known: Annotated[str | None, Header(alias="If-None-Match")] = None) -> Response:
    """Served at the top level, because a service worker only controls pages below its own path."""
    return _file(_WORKER, known)


def _file(name: str, known: str | None) -> Response:
    content, media_type, etag = _ASSETS[name]
    # Revalidated on each use, so that a page never loads a file of another version.
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if known is not None and etag in known:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


@router.api_route("/api/openapi.json", methods=GET)
async def openapi(request: Request) -> Response:
    """Making the document takes a second, once."""
    return reply(await asyncio.to_thread(request.app.state.document))


@router.api_route("/api/reference", methods=GET)
async def reference(request: Request, known: Annotated[str | None, Header(alias="If-None-Match")] = None) -> Response:
    """The OpenAPI document for readers. Like the document, it needs no token."""
    content, etag = await asyncio.to_thread(_reference, request.app.state.document)
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if known is not None and etag in known:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(content, headers=headers)


@cache
def _reference(document: Callable[[], dict[str, Any]]) -> tuple[bytes, str]:
    links, operations = render_reference(document())
    page = PAGES["reference.html"].replace("<!-- links -->", links).replace("<!-- operations -->", operations)
    return page.encode(), _etag(page.encode())


def render(template: str, values: Mapping[str, str]) -> str:
    """Escapes every value. No other function puts values of users into a page."""
    return Template(template).substitute({name: escape(value) for name, value in values.items()})


def page(request: Request, name: str, values: Mapping[str, str] | None = None, status: int = 200) -> HTMLResponse:
    """Returns the page in the language that the person chose in the app, otherwise in that of their browser."""
    accepted = request.headers.get("Accept-Language", "")
    template = PAGES[name]
    for language in (request.cookies.get(_CHOSEN_LANGUAGE, ""), *accepted_languages(accepted)):
        if language == "en":
            break
        if translated := PAGES.get(f"{language}/{name}"):
            template = translated
            break
    return HTMLResponse(render(template, values or {}), status, {"Cache-Control": "no-store"})


def accepted_languages(header: str) -> list[str]:
    """The languages that the browser accepts, without their regions, the most wanted first."""
    wanted = []
    for part in header.split(","):
        tag, _, quality = part.partition(";q=")
        try:
            wanted.append((-float(quality or 1), tag.strip().partition("-")[0].lower()))
        except ValueError:
            continue
    return [language for _, language in sorted(wanted, key=lambda each: each[0])]


def _read_pages() -> dict[str, str]:
    """A page's file has its part of the head, an empty line, and its body; `frame.html` has the rest."""
    parts = {file.name: file.read_text("utf-8") for file in _FOLDER.iterdir() if file.name.endswith(".html")}
    english = parts.pop("frame.html")
    arabic = english.replace('lang="en" dir="ltr"', 'lang="ar" dir="rtl"')
    parts |= {f"ar/{file.name}": file.read_text("utf-8") for file in _FOLDER.joinpath("ar").iterdir()}
    pages = {}
    for name, text in parts.items():
        frame = arabic if name.startswith("ar/") else english
        head, body = text.rstrip().split("\n\n", 1)
        pages[name] = frame.replace("<!-- head -->", head).replace("<!-- body -->", body)
    return pages


def _read_assets() -> dict[str, tuple[bytes, str, str]]:
    """Content, media type and ETag of each file that is not a page."""
    found = {file.name: file.read_bytes() for file in _FOLDER.iterdir() if file.name.rpartition(".")[2] in _TYPES}
    # Browsers install the service worker again when its text changes, so it changes with every file it may store.
    stored = (
        b"".join(content for _, content in sorted(found.items()))
        + PAGES["offline.html"].encode()
        + PAGES["ar/offline.html"].encode()
    )
    found[_WORKER] = f"const VERSION = '{_short_hash(stored)}';\n".encode() + found[_WORKER]
    return {name: (content, _TYPES[name.rpartition(".")[2]], _etag(content)) for name, content in found.items()}


def _short_hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _etag(content: bytes) -> str:
    return f'"{_short_hash(content)}"'


PAGES = _read_pages()
_ASSETS = _read_assets()
