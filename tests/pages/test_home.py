"""The page at `/`: the app for a signed-in user, otherwise the sign-in page."""

from __future__ import annotations

import httpx

from majlis.api.auth import COOKIE
from tests.pages.markup import Markup
from tests.world import World

APP = '<div id="root">'
SIGN_IN = "Your token"


async def test_without_a_session_it_is_the_sign_in_page(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert page.status_code == 200
    assert SIGN_IN in page.text
    assert "majlis sign-in-link" in page.text
    assert APP not in page.text


async def test_signing_in_opens_the_app_and_signing_out_leads_back(world: World, browser: httpx.AsyncClient) -> None:
    signed_in = await browser.post("/api/session", json={"token": world.owner.token})
    assert signed_in.status_code == 201
    assert APP in (await browser.get("/")).text
    assert (await browser.delete("/api/session")).status_code == 204
    assert SIGN_IN in (await browser.get("/")).text


async def test_with_an_expired_session_it_is_the_sign_in_page(browser: httpx.AsyncClient) -> None:
    browser.cookies.set(COOKIE, "ms_over")
    page = await browser.get("/")
    assert page.status_code == 200
    assert SIGN_IN in page.text


async def test_the_form_keeps_the_token_out_of_the_address_even_without_javascript(browser: httpx.AsyncClient) -> None:
    forms = [attributes for tag, attributes in Markup((await browser.get("/")).text).tags if tag == "form"]
    assert [(form["method"], form["action"]) for form in forms] == [("post", "/api/session")]


async def test_every_page_has_the_security_headers(browser: httpx.AsyncClient, link: str) -> None:
    for path in ("/", link, "/sign-in/mc_wrong", "/page/sign-in.js", "/page/none.js", "/assets/none.js"):
        headers = (await browser.get(path)).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"


async def test_pages_are_never_cached(browser: httpx.AsyncClient, link: str) -> None:
    """Neither the back button after signing out nor a shared proxy shows a page."""
    for answer in (
        await browser.get("/"),
        await browser.get("/spaces/spc_1"),
        await browser.get(link),
        await browser.post(link),
        await browser.get("/"),
    ):
        assert answer.headers["cache-control"] == "no-store"
