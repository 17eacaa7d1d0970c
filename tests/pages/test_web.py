"""How the web app is served: at all its addresses, compressed, with hashed assets cached forever."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx
import pytest

import majlis
from tests.pages.markup import Markup
from tests.world import World

DIST = Path(majlis.__file__).parent / "web_dist"
APP = '<div id="root">'
SIGN_IN = "Your token"
DEEP = [
    "/spaces/spc_0000000000000000",
    "/spaces/spc_0000000000000000/messages/msg_0000000000000000",
    "/admin",
    "/admin/people",
]


@pytest.fixture
def engine() -> str:
    """Static files do not depend on the database."""
    return "sqlite"


@pytest.fixture
async def inside(world: World, browser: httpx.AsyncClient) -> httpx.AsyncClient:
    assert (await browser.post("/api/session", json={"token": world.owner.token})).status_code == 201
    return browser


@pytest.mark.parametrize("path", DEEP)
async def test_a_deep_link_opens_the_app_or_the_sign_in_page(
    world: World, browser: httpx.AsyncClient, path: str
) -> None:
    assert SIGN_IN in (await browser.get(path)).text
    await browser.post("/api/session", json={"token": world.owner.token})
    assert APP in (await browser.get(path)).text


async def test_unknown_paths_are_not_found(inside: httpx.AsyncClient) -> None:
    for path in ("/nothing", "/api/nothing", "/assets/nothing.js", "/assets/../index.html", "/spacesx"):
        assert (await inside.get(path)).status_code == 404, path


@pytest.mark.parametrize("path", ["/nothing", "/spacesx", "/admin.php"])
async def test_an_unknown_path_is_html_for_browsers_and_json_for_api_clients(
    browser: httpx.AsyncClient, path: str
) -> None:
    page = await browser.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "Page not found" in page.text
    assert '<a href="/">' in page.text
    assert (await browser.get(path)).json()["error"]["code"] == "unknown_route"


async def test_the_api_never_returns_html(inside: httpx.AsyncClient) -> None:
    answer = await inside.get("/api/nothing", headers={"Accept": "text/html"})
    assert answer.json()["error"]["code"] == "unknown_route"


async def test_assets_are_served_compressed_and_cached_forever(inside: httpx.AsyncClient) -> None:
    named = [path for path in Markup((await inside.get("/")).text).files() if path.startswith("/assets/")]
    assert {path.rpartition(".")[2] for path in named} == {"js", "css"}
    for path in named:
        plain = await inside.get(path, headers={"Accept-Encoding": "identity"})
        assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (plain.headers["vary"], plain.headers.get("content-encoding")) == ("Accept-Encoding", None)
        async with inside.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as compressed:
            raw = b"".join([chunk async for chunk in compressed.aiter_raw()])
        assert compressed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(raw) == plain.content
        # A file of a thousand bytes leaves little to compress.
        assert len(raw) < len(plain.content) * (0.5 if len(plain.content) > 4096 else 0.75)


async def test_the_parts_that_show_pdf_files_are_scripts(inside: httpx.AsyncClient) -> None:
    names = [path.relative_to(DIST).as_posix() for path in DIST.glob("assets/pdf*/*.js")]
    names += [path.relative_to(DIST).as_posix() for path in DIST.glob("assets/pdf.worker*.mjs")]
    assert len(names) == 3
    for name in names:
        answer = await inside.get(f"/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["content-encoding"] == "gzip"


async def test_the_page_complies_with_the_content_security_policy(inside: httpx.AsyncClient) -> None:
    for tag, attributes in Markup((await inside.get("/")).text).tags:
        assert tag != "style"
        assert tag != "script" or attributes.get("src")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


async def test_asset_names_contain_a_hash(inside: httpx.AsyncClient) -> None:
    for path in Markup((await inside.get("/")).text).files():
        assert path.startswith("/page/") or re.search(r"-[\w-]{8}\.\w+$", path), path
