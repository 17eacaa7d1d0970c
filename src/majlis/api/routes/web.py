"""The web app: built by `make setup` into `majlis/web_dist`, served at `/` and at every address it has pages for.

Its files are read once, at import, so no path leads elsewhere. Their names hold a hash of what is in them and never
mean anything else; the page that names them is asked for each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from mimetypes import guess_type
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from majlis.api.auth import enter
from majlis.api.error_responses import http_error
from majlis.api.routes.pages import LOOKING, page
from majlis.errors import NotFound, Unauthenticated

router = APIRouter(tags=["web"], include_in_schema=False)

_FOLDER = files("majlis").joinpath("web_dist")
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@router.api_route("/", methods=LOOKING)
@router.api_route("/spaces/{rest:path}", methods=LOOKING)
@router.api_route("/admin", methods=LOOKING)
@router.api_route("/admin/{rest:path}", methods=LOOKING)
async def app(request: Request) -> Response:
    """Strangers get the way in, at the address they came for: after signing in it is still there."""
    try:
        await (await enter(request)).caller()
    except Unauthenticated:
        return page("sign-in.html")
    if _INDEX is None:
        return page("not-built.html", status=503)
    return HTMLResponse(_INDEX, headers={"Cache-Control": "no-store"})


async def lost(request: Request, error: Exception) -> Response:
    """Who mistypes an address in a browser gets a page; programs, and whoever calls the API, the one error shape."""
    assert isinstance(error, HTTPException)
    looking = request.method in LOOKING and "text/html" in request.headers.get("Accept", "")
    if error.status_code == 404 and looking and not request.url.path.startswith("/api/"):
        return page("not-found.html", status=404)
    return await http_error(request, error)


@router.api_route("/assets/{name}", methods=LOOKING)
async def asset(name: str, takes: Annotated[str, Header(alias="Accept-Encoding")] = "") -> Response:
    found = _ASSETS.get(name)
    if found is None:
        raise NotFound("unknown_page", "There is no such file.")
    headers = dict(_FOR_EVER)
    if found.squeezed is None:
        return Response(found.content, headers=headers, media_type=found.media_type)
    headers["Vary"] = "Accept-Encoding"
    if "gzip" not in takes:
        return Response(found.content, headers=headers, media_type=found.media_type)
    headers["Content-Encoding"] = "gzip"
    return Response(found.squeezed, headers=headers, media_type=found.media_type)


@dataclass(frozen=True, slots=True)
class _Asset:
    content: bytes
    squeezed: bytes | None
    media_type: str


def _read_assets() -> dict[str, _Asset]:
    folder = _FOLDER.joinpath("assets")
    if not folder.is_dir():
        return {}
    read = {file.name: file.read_bytes() for file in folder.iterdir()}
    return {
        name: _Asset(content, read.get(f"{name}.gz"), guess_type(name)[0] or "application/octet-stream")
        for name, content in read.items()
        if not name.endswith(".gz")
    }


def _read_index() -> str | None:
    index = _FOLDER.joinpath("index.html")
    return index.read_text("utf-8") if index.is_file() else None


_INDEX = _read_index()
_ASSETS = _read_assets()
