"""The page at `/`: the chat for whoever is signed in, and for everybody else the way in."""

from __future__ import annotations

import httpx

from majlis.api.auth import COOKIE
from tests.pages.markup import Markup
from tests.world import World

CHAT = '<div id="root">'
ENTRANCE = "Your token"


async def test_a_stranger_gets_the_way_in(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.status_code == 200
    assert ENTRANCE in page.text
    assert "majlis token sign-in" in page.text
    assert CHAT not in page.text


async def test_a_token_is_exchanged_for_the_chat_and_signing_out_leads_back(
    world: World, browser: httpx.AsyncClient
) -> None:
    signed_in = await browser.post("/api/session", json={"token": world.owner.token})
    assert signed_in.status_code == 201
    assert CHAT in (await browser.get("/")).text
    assert (await browser.delete("/api/session")).status_code == 204
    assert ENTRANCE in (await browser.get("/")).text


async def test_a_session_that_has_ended_gets_the_way_in(browser: httpx.AsyncClient) -> None:
    browser.cookies.set(COOKIE, "ms_over")
    page = await browser.get("/")
    assert page.status_code == 200
    assert ENTRANCE in page.text


async def test_without_its_script_the_form_keeps_a_token_out_of_addresses(browser: httpx.AsyncClient) -> None:
    forms = [attributes for tag, attributes in Markup((await browser.get("/")).text).tags if tag == "form"]
    assert [(form["method"], form["action"]) for form in forms] == [("post", "/api/session")]


async def test_every_page_carries_the_security_headers(browser: httpx.AsyncClient, link: str) -> None:
    for path in ("/", link, "/sign-in/mc_wrong", "/page/sign-in.js", "/page/none.js", "/assets/none.js"):
        headers = (await browser.get(path)).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"


async def test_pages_are_never_kept(browser: httpx.AsyncClient, link: str) -> None:
    """Whoever signs out and goes back, or shares a proxy, finds nothing."""
    for answer in (
        await browser.get("/"),
        await browser.get("/spaces/spc_1"),
        await browser.get(link),
        await browser.post(link),
        await browser.get("/"),
    ):
        assert answer.headers["cache-control"] == "no-store"
