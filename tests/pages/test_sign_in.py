"""One-time sign-in links: opening one does not use it, and it works once, only from its own page."""

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


async def test_the_page_of_the_link_names_the_user(browser: httpx.AsyncClient, link: str) -> None:
    page = await browser.get(link)
    assert page.status_code == 200
    assert "Sign in to Majlis as Owner" in Markup(page.text).text
    assert COOKIE not in page.cookies


async def test_opening_the_link_does_not_use_it(browser: httpx.AsyncClient, link: str) -> None:
    for _ in range(3):
        assert (await browser.get(link)).status_code == 200
        assert (await browser.head(link)).status_code == 200
    assert (await browser.post(link)).status_code == 303


async def test_using_the_link_starts_a_session_and_opens_the_app(browser: httpx.AsyncClient, link: str) -> None:
    used = await browser.post(link)
    assert (used.status_code, used.headers["location"]) == (303, "/")
    assert (await browser.get("/api/me")).json()["name"] == "Owner"
    assert '<div id="root">' in (await browser.get("/")).text


async def test_concurrent_uses_start_exactly_one_session(world: World, link: str) -> None:
    browsers = [open_browser(world.base_url) for _ in range(8)]
    try:
        answers = await asyncio.gather(*(browser.post(link) for browser in browsers))
    finally:
        await asyncio.gather(*(browser.aclose() for browser in browsers))
    assert Counter(answer.status_code for answer in answers) == {303: 1, 401: 7}
    assert await world.gateway.db.read(_sessions) == 1


async def test_the_page_of_a_used_link_says_how_to_get_a_new_one(browser: httpx.AsyncClient, link: str) -> None:
    await browser.post(link)
    for again in (await browser.get(link), await browser.post(link)):
        assert again.status_code == 401
        assert "majlis sign-in-link" in Markup(again.text).text


async def test_an_expired_link_does_not_work(world: World, browser: httpx.AsyncClient, link: str) -> None:
    await world.gateway.db.write(_expire_links)
    assert (await browser.get(link)).status_code == 401
    assert (await browser.post(link)).status_code == 401
    assert await world.gateway.db.read(_sessions) == 0


async def test_an_unknown_code_is_refused_without_an_error(browser: httpx.AsyncClient) -> None:
    for code in ("mc_wrong", "x" * 4000, "%00", "%ff", "%F0%9F%98%80"):
        assert (await browser.get(f"/sign-in/{code}")).status_code == 401
        assert (await browser.post(f"/sign-in/{code}")).status_code == 401


async def test_another_site_cannot_use_the_link(browser: httpx.AsyncClient, link: str) -> None:
    sites = [{"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "none")]
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, *sites):
        refused = await browser.post(link, headers=headers)
        assert refused.status_code == 403, headers
        assert COOKIE not in refused.cookies
    assert (await browser.post(link)).status_code == 303, "the link was not used"


async def test_a_request_without_an_origin_cannot_use_the_link(world: World, link: str) -> None:
    async with httpx.AsyncClient(base_url=world.base_url) as program:
        assert (await program.post(link)).status_code == 403


async def test_sec_fetch_site_is_sufficient(browser: httpx.AsyncClient, link: str) -> None:
    """With no-referrer a form sends `Origin: null`; Sec-Fetch-Site is still correct."""
    used = await browser.post(link, headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"})
    assert used.status_code == 303


async def test_the_page_of_the_link_sends_its_origin(browser: httpx.AsyncClient, link: str) -> None:
    """Plain HTTP has no Sec-Fetch-Site; with no-referrer the Origin was null and other machines could not sign in."""
    tags = Markup((await browser.get(link)).text).tags
    assert ("meta", {"name": "referrer", "content": "strict-origin"}) in tags
    assert ("form", {"method": "post"}) in tags


async def test_too_many_attempts_are_refused_with_retry_after(
    world: World, browser: httpx.AsyncClient, link: str
) -> None:
    for _ in range(world.gateway.settings.sign_ins_per_minute):
        assert (await browser.post("/sign-in/mc_wrong")).status_code == 401
    refused = await browser.post(link)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert "Sign-in failed" in Markup(refused.text).text


async def test_requests_from_other_sites_do_not_count_against_the_limit(
    world: World, browser: httpx.AsyncClient, link: str
) -> None:
    for _ in range(world.gateway.settings.sign_ins_per_minute + 1):
        await browser.post("/sign-in/mc_wrong", headers={"Sec-Fetch-Site": "cross-site"})
    assert (await browser.post(link)).status_code == 303


async def test_the_cookie_is_hidden_from_scripts_and_other_sites(browser: httpx.AsyncClient, link: str) -> None:
    cookie = (await browser.post(link)).headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")}
    assert {"httponly", "samesite=lax", "path=/"} <= parts
    assert "secure" not in parts, "browsers drop a secure cookie over plain HTTP"


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


async def test_the_code_appears_in_no_log_and_no_metric(
    world: World, browser: httpx.AsyncClient, link: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        await browser.get(link)
        await browser.post(link)
    code = link.rpartition("/")[2]
    printed = capfd.readouterr()
    assert code not in printed.out + printed.err
    assert code not in (await browser.get("/metrics")).text


async def test_a_hostile_name_is_escaped(world: World, browser: httpx.AsyncClient, link: str) -> None:
    """Names are validated on write, but pages do not rely on it."""
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
