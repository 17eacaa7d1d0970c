"""The files of the sign-in pages: only known files are served, and none can run user input."""

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
    ".webmanifest": "application/manifest+json",
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
    """Static files do not depend on the database."""
    return "sqlite"


async def test_all_files_that_a_page_references_are_served(browser: httpx.AsyncClient) -> None:
    for path in {path for page in PAGES.values() for path in Markup(page).files()}:
        answer = await browser.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["content-type"] == TYPES[Path(path).suffix]


async def test_a_cached_file_is_not_sent_again(browser: httpx.AsyncClient) -> None:
    first = await browser.get("/page/sign-in.js")
    assert first.headers["cache-control"] == "no-cache"
    etag = first.headers["etag"]
    again = await browser.get("/page/sign-in.js", headers={"If-None-Match": f'"other", W/{etag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    other = await browser.get("/page/sign-in.js", headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)


async def test_the_service_worker_is_served_at_the_top_and_changes_with_the_files_that_it_stores(
    browser: httpx.AsyncClient,
) -> None:
    answer = await browser.get("/service-worker.js")
    assert answer.headers["content-type"] == TYPES[".js"]
    assert answer.headers["cache-control"] == "no-cache"
    assert re.match(r"const VERSION = '[0-9a-f]{16}';\n", answer.text)
    stored = re.findall(r"'(/[\w./-]+)'", re.findall(r"FILES = \[(.*)\]", answer.text)[0])
    for path in (*stored, "/offline"):
        assert (await browser.get(path)).status_code == 200, path
    # Elsewhere it would control no page of the app.
    assert (await browser.get("/page/service-worker.js")).status_code == 404


async def test_no_path_reaches_another_file(world: World) -> None:
    found = {path: await _status_of_exactly(world.base_url, path) for path in ASTRAY}
    assert set(found.values()) <= {307, 404}, found


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_complies_with_the_content_security_policy(page: str) -> None:
    for tag, attributes in Markup(PAGES[page]).tags:
        assert tag != "style", "styles belong in a file"
        assert tag != "script" or attributes.get("src"), "scripts belong in a file"
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_is_complete(page: str) -> None:
    markup = Markup(PAGES[page])
    tags = [tag for tag, _ in markup.tags]
    assert [tags.count(tag) for tag in ("html", "head", "title", "body", "main", "h1")] == [1] * 6
    assert "<!-- head" not in PAGES[page]
    assert "<!-- body" not in PAGES[page]


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_parses_strings_as_markup_or_code(script: str) -> None:
    found = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|createContextualFragment|DOMParser|srcdoc"
        r"|\beval\b|\bFunction\(|javascript:",
        SCRIPTS[script],
    )
    assert not found


@given(st.text())
def test_values_cannot_change_the_structure_of_a_page(value: str) -> None:
    page, plain = (Markup(render(PAGES["sign-in-link.html"], {"name": name})) for name in (value, "Owner"))
    assert page.tags == plain.tags
    assert f"Sign in to Majlis as {value}" in page.text


async def _status_of_exactly(base_url: str, path: str) -> int:
    """Sends the path as it is; HTTP clients normalize it, attackers do not."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split(b" ", 2)[1])
