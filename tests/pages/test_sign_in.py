"""Signing in with a one-time link: looking is free, using it works once, and only from its own page."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
import pytest
import sqlalchemy as sa

from majlis.api.app import create_app
from majlis.api.auth import COOKIE
from majlis.gateway import open_gateway
from majlis.settings import Settings
from majlis.store.tables import entities, tokens
from majlis.store.transactions import Tx
from tests.pages.conftest import open_browser
from tests.pages.markup import Markup
from tests.world import World


async def test_the_link_shows_whom_it_signs_in(browser: httpx.AsyncClient, link: str) -> None:
    page = await browser.get(link)
    assert page.status_code == 200
    assert "Sign in to Majlis as Owner" in Markup(page.text).text
    assert COOKIE not in page.cookies


async def test_looking_at_the_link_does_not_use_it_up(browser: httpx.AsyncClient, link: str) -> None:
    for _ in range(3):
        assert (await browser.get(link)).status_code == 200
        assert (await browser.head(link)).status_code == 200
    assert (await browser.post(link)).status_code == 303


async def test_using_the_link_opens_a_session_and_leads_to_the_chat(browser: httpx.AsyncClient, link: str) -> None:
    used = await browser.post(link)
    assert (used.status_code, used.headers["location"]) == (303, "/")
    assert (await browser.get("/api/me")).json()["name"] == "Owner"
    assert '<div id="root">' in (await browser.get("/")).text


async def test_many_uses_at_once_open_exactly_one_session(world: World, link: str) -> None:
    browsers = [open_browser(world.base_url) for _ in range(8)]
    try:
        answers = await asyncio.gather(*(browser.post(link) for browser in browsers))
    finally:
        await asyncio.gather(*(browser.aclose() for browser in browsers))
    assert Counter(answer.status_code for answer in answers) == {303: 1, 401: 7}
    assert await world.gateway.db.read(_sessions) == 1


async def test_a_used_link_says_how_to_get_a_new_one(browser: httpx.AsyncClient, link: str) -> None:
    await browser.post(link)
    for again in (await browser.get(link), await browser.post(link)):
        assert again.status_code == 401
        assert "majlis token sign-in Owner" in Markup(again.text).text


async def test_an_expired_link_is_as_good_as_used(world: World, browser: httpx.AsyncClient, link: str) -> None:
    await world.gateway.db.write(_expire_links)
    assert (await browser.get(link)).status_code == 401
    assert (await browser.post(link)).status_code == 401
    assert await world.gateway.db.read(_sessions) == 0


async def test_a_code_that_was_never_given_is_refused_politely(browser: httpx.AsyncClient) -> None:
    for code in ("mc_wrong", "x" * 4000, "%00", "%ff", "%F0%9F%98%80"):
        assert (await browser.get(f"/sign-in/{code}")).status_code == 401
        assert (await browser.post(f"/sign-in/{code}")).status_code == 401


async def test_a_foreign_page_cannot_use_the_link(browser: httpx.AsyncClient, link: str) -> None:
    sites = [{"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "none")]
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, *sites):
        refused = await browser.post(link, headers=headers)
        assert refused.status_code == 403, headers
        assert COOKIE not in refused.cookies
    assert (await browser.post(link)).status_code == 303, "the link was not used up"


async def test_a_request_that_does_not_say_where_it_comes_from_cannot_use_the_link(world: World, link: str) -> None:
    async with httpx.AsyncClient(base_url=world.base_url) as program:
        assert (await program.post(link)).status_code == 403


async def test_the_browsers_own_word_is_enough(browser: httpx.AsyncClient, link: str) -> None:
    """A form under no-referrer sends Origin: null; Sec-Fetch-Site tells the truth beside it."""
    used = await browser.post(link, headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"})
    assert used.status_code == 303


async def test_the_links_page_lets_its_form_name_its_origin(browser: httpx.AsyncClient, link: str) -> None:
    """Plain http on a local network has no Sec-Fetch-Site, and under no-referrer the form's Origin was null: nobody
    could sign in from another machine."""
    tags = Markup((await browser.get(link)).text).tags
    assert ("meta", {"name": "referrer", "content": "strict-origin"}) in tags
    assert ("form", {"method": "post"}) in tags


async def test_trying_too_often_is_refused_with_the_time_to_wait(
    world: World, browser: httpx.AsyncClient, link: str
) -> None:
    for _ in range(world.gateway.settings.sign_ins_per_minute):
        assert (await browser.post("/sign-in/mc_wrong")).status_code == 401
    refused = await browser.post(link)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert "Too many requests" in Markup(refused.text).text


async def test_foreign_requests_do_not_spend_the_allowance(world: World, browser: httpx.AsyncClient, link: str) -> None:
    for _ in range(world.gateway.settings.sign_ins_per_minute + 1):
        await browser.post("/sign-in/mc_wrong", headers={"Sec-Fetch-Site": "cross-site"})
    assert (await browser.post(link)).status_code == 303


async def test_the_cookie_is_out_of_reach_for_scripts_and_foreign_pages(browser: httpx.AsyncClient, link: str) -> None:
    cookie = (await browser.post(link)).headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")}
    assert {"httponly", "samesite=lax", "path=/"} <= parts
    assert "secure" not in parts, "over plain http a browser would not keep it"


async def test_the_cookie_of_an_https_gateway_is_secure(settings: Settings) -> None:
    gateway = await open_gateway(settings.model_copy(update={"public_url": "https://majlis.example"}))
    try:
        transport = httpx.ASGITransport(create_app(gateway))
        headers = {"Origin": "https://majlis.example"}
        async with httpx.AsyncClient(
            transport=transport, base_url="https://majlis.example", headers=headers
        ) as browser:
            used = await browser.post(await gateway.sign_in_link(""))
    finally:
        await gateway.close()
    assert "; secure" in used.headers["set-cookie"].lower()
    assert used.headers["strict-transport-security"]


async def test_the_code_appears_in_no_log_and_no_figure(
    world: World, browser: httpx.AsyncClient, link: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        await browser.get(link)
        await browser.post(link)
    code = link.rpartition("/")[2]
    printed = capfd.readouterr()
    assert code not in printed.out + printed.err
    assert code not in (await browser.get("/metrics")).text


async def test_a_hostile_name_stays_text(world: World, browser: httpx.AsyncClient, link: str) -> None:
    """Names are validated when they are written; a page does not rely on it."""
    name = "</h1><script>x</script><img src=x onerror=y> \"'&amp; ${name}"
    plain = Markup((await browser.get(link)).text)
    await world.gateway.db.write(_rename_unsafe, world.owner.id, name)
    hostile = Markup((await browser.get(link)).text)
    assert hostile.tags == plain.tags
    assert f"Sign in to Majlis as {name}" in hostile.text


def _sessions(tx: Tx) -> int:
    statement = sa.select(sa.func.count()).select_from(tokens).where(tokens.c.kind == "session")
    return int(tx.execute(statement).scalar_one())


def _expire_links(tx: Tx) -> None:
    tx.execute(tokens.update().where(tokens.c.kind == "sign_in").values(expires_at=tx.now - 1))


def _rename_unsafe(tx: Tx, entity_id: str, name: str) -> None:
    tx.execute(entities.update().where(entities.c.id == entity_id).values(name=name))
