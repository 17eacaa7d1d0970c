"""The files of the way in: all that are named are served, nothing else is, and none of them can run what people say."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import majlis.api
from majlis.api.routes.pages import PAGES, render
from tests.pages.markup import Markup
from tests.world import World

FOLDER = Path(majlis.api.__file__).parent / "page"
SCRIPTS = {file.name: file.read_text("utf-8") for file in sorted(FOLDER.glob("*.js"))}
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
ASTRAY = [
    "/page/",
    "/page/sign-in-link.html",
    "/page/../app.py",
    "/page/../../../../../../etc/passwd",
    "/page/%2e%2e/app.py",
    "/page/..%2fapp.py",
    "/page/%2e%2e%2fapp.py",
    "/page/..%5capp.py",
    "/page//etc/passwd",
    "/page/%2fetc%2fpasswd",
    "/page/sign-in.js/",
    "/page/sign-in.js%00",
    "/page/SIGN-IN.JS",
    "/page/./sign-in.js",
]


@pytest.fixture
def engine() -> str:
    """No file depends on the database."""
    return "sqlite"


async def test_everything_a_page_names_is_served(browser: httpx.AsyncClient) -> None:
    for path in {path for page in PAGES.values() for path in Markup(page).files()}:
        answer = await browser.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["content-type"] == TYPES[Path(path).suffix]


async def test_a_file_that_is_known_is_not_sent_again(browser: httpx.AsyncClient) -> None:
    first = await browser.get("/page/sign-in.js")
    assert first.headers["cache-control"] == "no-cache"
    etag = first.headers["etag"]
    again = await browser.get("/page/sign-in.js", headers={"If-None-Match": f'"other", W/{etag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    other = await browser.get("/page/sign-in.js", headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)


async def test_no_path_leads_to_another_file(world: World) -> None:
    found = {path: await _status_of_exactly(world.base_url, path) for path in ASTRAY}
    assert set(found.values()) <= {307, 404}, found


@pytest.mark.parametrize("page", sorted(PAGES))
def test_no_page_holds_what_the_policy_forbids(page: str) -> None:
    for tag, attributes in Markup(PAGES[page]).tags:
        assert tag != "style", "styles are in a file"
        assert tag != "script" or attributes.get("src"), "scripts are in files"
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_is_whole(page: str) -> None:
    markup = Markup(PAGES[page])
    tags = [tag for tag, _ in markup.tags]
    assert [tags.count(tag) for tag in ("html", "head", "title", "body", "main", "h1")] == [1] * 6
    assert "<!-- head" not in PAGES[page]
    assert "<!-- body" not in PAGES[page]


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_reads_a_string_as_markup_or_code(script: str) -> None:
    found = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|createContextualFragment|DOMParser|srcdoc"
        r"|\beval\b|\bFunction\(|javascript:",
        SCRIPTS[script],
    )
    assert not found


@given(st.text())
def test_whatever_a_value_is_the_page_keeps_its_shape(value: str) -> None:
    page, plain = (Markup(render(PAGES["sign-in-link.html"], {"name": name})) for name in (value, "Owner"))
    assert page.tags == plain.tags
    assert f"Sign in to Majlis as {value}" in page.text


async def _status_of_exactly(base_url: str, path: str) -> int:
    """Clients tidy a path up before they send it; somebody who means harm does not."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split(b" ", 2)[1])
