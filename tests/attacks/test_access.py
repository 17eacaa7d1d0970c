"""Keeping a way in after it was taken away (G7): browser sessions, links and streams that outlive their token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import httpx
import pytest
from pydantic import SecretStr

from majlis.settings import Settings
from tests.follower import StreamEnded
from tests.world import Person, World, serve_world

SignIn = Callable[..., Awaitable[httpx.AsyncClient]]
OLD, NEW = "an-owner-token-of-24-characters", "another-owner-token-of-24-characters"


@pytest.fixture
async def browser() -> AsyncIterator[SignIn]:
    """Signs a browser in with a token or a code."""
    async with AsyncExitStack() as opened:

        async def sign_in(world: World, **body: str) -> httpx.AsyncClient:
            http = httpx.AsyncClient(base_url=world.base_url, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60)
            await opened.enter_async_context(http)
            assert (await http.post("/api/session", json=body)).is_success
            return http

        yield sign_in


async def code_for(caller: Person | httpx.AsyncClient, entity_id: str) -> str:
    link = (await caller.post(f"/api/entities/{entity_id}/sign-in-links")).json()
    return str(link["url"].rsplit("/", 1)[1])


async def status(http: httpx.AsyncClient) -> int:
    return (await http.get("/api/me")).status_code


async def test_ending_all_access_signs_out_every_browser_and_ends_every_link(world: World, browser: SignIn) -> None:
    """G7: a browser that had used a sign-in link stayed signed in for 30 days after all tokens were revoked."""
    sara = await world.person("Sara")
    by_token = await browser(world, token=sara.token)
    by_link = await browser(world, code=await code_for(world.owner, sara.id))
    unused = await code_for(world.owner, sara.id)
    path = f"/api/entities/{sara.id}/access"
    kinds = [each["kind"] for each in await world.owner.ok("GET", path)]
    assert sorted(kinds) == ["link", "session", "session", "token"]
    async with sara.follow() as stream:
        await stream.next()
        await world.owner.ok("DELETE", path)
        with pytest.raises(StreamEnded):
            await stream.until("never")
    assert await world.owner.ok("GET", path) == []
    assert [await status(http) for http in (sara.http, by_token, by_link)] == [401, 401, 401]
    late = await by_link.post("/api/session", json={"code": unused})
    assert late.json()["error"]["code"] == "invalid_link"


async def test_a_token_takes_along_the_links_and_tokens_that_it_made_for_itself(world: World, browser: SignIn) -> None:
    """An admin's stolen token made a second token and a link, which outlived it."""
    admin = await world.person("Ada", role="admin")
    own = f"/api/entities/{admin.id}"
    second = await world.anybody((await admin.ok("POST", f"{own}/tokens", {}))["token"])
    linked = await browser(world, code=await code_for(second, admin.id))
    again = await browser(world, code=await code_for(linked, admin.id))
    sara = await world.owner.ok("POST", "/api/entities", {"type": "human", "name": "Sara"})
    given = await world.anybody((await admin.ok("POST", f"/api/entities/{sara['id']}/tokens", {}))["token"])
    [first, *_] = await admin.ok("GET", f"{own}/access")
    assert (first["kind"], first["current"], first["openedWith"]) == ("token", True, None)
    await admin.ok("DELETE", f"/api/access/{first['id']}")
    assert [await status(each) for each in (admin.http, second.http, linked, again)] == [401] * 4
    assert await status(given.http) == 200


async def test_members_end_their_own_access_only(world: World, browser: SignIn) -> None:
    sara, eve = await world.person("Sara"), await world.person("Eve")
    [hers] = await sara.ok("GET", f"/api/entities/{sara.id}/access")
    for method, path in (("GET", f"/api/entities/{sara.id}/access"), ("DELETE", f"/api/entities/{sara.id}/access")):
        assert (await eve.http.request(method, path)).status_code == 403
    assert (await eve.delete(f"/api/access/{hers['id']}")).status_code == 404
    admin = await world.person("Ada", role="admin")
    assert (await admin.get(f"/api/entities/{world.owner.id}/access")).status_code == 403
    phone = await browser(world, code=await code_for(world.owner, sara.id))
    await sara.ok("DELETE", f"/api/entities/{sara.id}/access", keepCurrent=True)
    assert [await status(sara.http), await status(phone)] == [200, 401]


@pytest.fixture
async def two_browsers(settings: Settings, browser: SignIn) -> dict[str, httpx.Cookies]:
    """Cookies of a gateway with the owner token OLD: opened with the token, and with a console link."""
    async with serve_world(settings.model_copy(update={"owner_token": SecretStr(OLD)})) as world:
        by_token = await browser(world, token=OLD)
        by_link = await browser(world, code=(await world.gateway.sign_in_link("")).rsplit("/", 1)[1])
    return {"token": by_token.cookies, "link": by_link.cookies}


async def test_rotating_the_owner_token_signs_out_the_browsers_that_used_it(
    settings: Settings, two_browsers: dict[str, httpx.Cookies]
) -> None:
    """Old owner cookies went on working."""
    for owner_token, expected in ((OLD, 200), (NEW, 401)):
        async with serve_world(settings.model_copy(update={"owner_token": SecretStr(owner_token)})) as world:
            for opened_with, wanted in (("token", expected), ("link", 200)):
                async with httpx.AsyncClient(
                    base_url=world.base_url, cookies=two_browsers[opened_with], timeout=60
                ) as http:
                    assert await status(http) == wanted


async def test_no_session_survives_a_sign_in_at_the_moment_of_the_revocation(world: World) -> None:
    """On PostgreSQL, a session that was opened while its token was being revoked stayed."""
    sara = await world.person("Sara")
    for _ in range(3):
        made = await world.owner.ok("POST", f"/api/entities/{sara.id}/tokens", {})
        http = httpx.AsyncClient(base_url=world.base_url, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60)
        async with http:
            signing_in = http.post("/api/session", json={"token": made["token"]})
            await asyncio.gather(world.owner.delete(f"/api/access/{made['id']}"), signing_in)
            assert await status(http) == 401
