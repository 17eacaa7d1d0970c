"""The web app: built by `make setup` into `majlis/web_dist`, served at `/` and at every path of its own.

Its files are read at import, so no path leads elsewhere. Their names contain a hash of their content or a version, so
browsers may cache them forever; the page that names them is not cached.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from mimetypes import guess_type
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Header, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from majlis.api.auth import enter
from majlis.api.error_responses import handle_error
from majlis.api.route import new_router
from majlis.api.routes.pages import GET, page
from majlis.errors import NotFound, Unauthenticated

router = new_router("web", include_in_schema=False)

_FOLDER = files("majlis").joinpath("web_dist")


@router.api_route("/", methods=GET)
@router.api_route("/spaces/{rest:path}", methods=GET)
@router.api_route("/admin", methods=GET)
@router.api_route("/admin/{rest:path}", methods=GET)
async def app(request: Request) -> Response:
    """Without a session it returns the sign-in page at the same URL, so signing in leads to where the user wanted to
    go."""
    try:
        await (await enter(request)).caller()
    except Unauthenticated:
        issuer = request.app.state.gateway.settings.oidc_issuer
        provider = {"provider": urlsplit(issuer).hostname or "", "without_provider": "" if issuer else "hidden"}
        return page(request, "sign-in.html", provider)
    if _INDEX is None:
        return page(request, "not-built.html", status=503)
    return HTMLResponse(_INDEX, headers={"Cache-Control": "no-store"})


async def not_found(request: Request, error: Exception) -> Response:
    """Unknown path: HTML for browsers, JSON for API clients."""
    assert isinstance(error, HTTPException)
    browser = request.method in GET and "text/html" in request.headers.get("Accept", "")
    if error.status_code == 404 and browser and not request.url.path.startswith(("/api/", "/v1/", "/mcp")):
        return page(request, "not-found.html", status=404)
    return await handle_error(request, error)


@router.api_route("/assets/{name:path}", methods=GET)
async def asset(name: str, accepted: Annotated[str, Header(alias="Accept-Encoding")] = "") -> Response:
    content = None if name.endswith(".gz") else _ASSETS.get(name)
    if content is None:
        raise NotFound("unknown_page", "There is no such file.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    compressed = _ASSETS.get(f"{name}.gz")
    if compressed is not None:
        headers["Vary"] = "Accept-Encoding"
        if "gzip" in accepted:
            content, headers["Content-Encoding"] = compressed, "gzip"
    return Response(content, headers=headers, media_type=guess_type(name)[0] or "application/octet-stream")


_INDEX_FILE = _FOLDER.joinpath("index.html")
_INDEX = _INDEX_FILE.read_text("utf-8") if _INDEX_FILE.is_file() else None
_ASSETS_FOLDER = _FOLDER.joinpath("assets")


def _contents(folder: Traversable, path: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for each in folder.iterdir():
        found |= _contents(each, f"{path}{each.name}/") if each.is_dir() else {path + each.name: each.read_bytes()}
    return found


_ASSETS = _contents(_ASSETS_FOLDER) if _ASSETS_FOLDER.is_dir() else {}
