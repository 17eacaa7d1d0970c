"""The web app as it is served: at every address it has pages for, small on the wire, and kept for ever where it may."""

from __future__ import annotations

import gzip
import re

import httpx
import pytest

from tests.pages.markup import Markup
from tests.world import World

CHAT = '<div id="root">'
ENTRANCE = "Your token"
DEEP = [
    "/spaces/spc_0000000000000000",
    "/spaces/spc_0000000000000000/messages/msg_0000000000000000",
    "/admin",
    "/admin/people",
]


@pytest.fixture
def engine() -> str:
    """No file depends on the database."""
    return "sqlite"


@pytest.fixture
async def inside(world: World, browser: httpx.AsyncClient) -> httpx.AsyncClient:
    assert (await browser.post("/api/session", json={"token": world.owner.token})).status_code == 201
    return browser


@pytest.mark.parametrize("path", DEEP)
async def test_a_deep_link_is_the_app_and_for_a_stranger_the_way_in(
    world: World, browser: httpx.AsyncClient, path: str
) -> None:
    assert ENTRANCE in (await browser.get(path)).text
    await browser.post("/api/session", json={"token": world.owner.token})
    assert CHAT in (await browser.get(path)).text


async def test_what_no_page_has_stays_unknown(inside: httpx.AsyncClient) -> None:
    for path in ("/nothing", "/api/nothing", "/assets/nothing.js", "/assets/../index.html", "/spacesx"):
        assert (await inside.get(path)).status_code == 404, path


@pytest.mark.parametrize("path", ["/nothing", "/spacesx", "/admin.php"])
async def test_who_mistypes_an_address_gets_a_page_and_a_program_an_error(
    browser: httpx.AsyncClient, path: str
) -> None:
    lost = await browser.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (lost.status_code, lost.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in lost.text
    assert '<a href="/">' in lost.text
    assert (await browser.get(path)).json()["error"]["code"] == "unknown_route"


async def test_the_api_never_answers_with_a_page(inside: httpx.AsyncClient) -> None:
    answer = await inside.get("/api/nothing", headers={"Accept": "text/html"})
    assert answer.json()["error"]["code"] == "unknown_route"


async def test_everything_the_page_names_is_served_squeezed_and_kept_for_ever(inside: httpx.AsyncClient) -> None:
    named = [path for path in Markup((await inside.get("/")).text).files() if path.startswith("/assets/")]
    assert {path.rpartition(".")[2] for path in named} == {"js", "css"}
    for path in named:
        plain = await inside.get(path, headers={"Accept-Encoding": "identity"})
        assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (plain.headers["vary"], plain.headers.get("content-encoding")) == ("Accept-Encoding", None)
        async with inside.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as squeezed:
            raw = b"".join([chunk async for chunk in squeezed.aiter_raw()])
        assert squeezed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(raw) == plain.content
        assert len(raw) < len(plain.content) / 2


async def test_the_page_holds_nothing_that_the_policy_forbids(inside: httpx.AsyncClient) -> None:
    for tag, attributes in Markup((await inside.get("/")).text).tags:
        assert tag != "style"
        assert tag != "script" or attributes.get("src")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


async def test_names_of_files_change_with_what_is_in_them(inside: httpx.AsyncClient) -> None:
    for path in Markup((await inside.get("/")).text).files():
        assert path.startswith("/page/") or re.search(r"-[\w-]{8}\.\w+$", path), path
