"""Signing in with another person's identity by OpenID Connect (G13). The provider is a real one, from a package."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from oidc_provider_mock import User, run_server_in_thread
from pydantic import SecretStr

from majlis.settings import Settings
from tests.world import World, serve_world

VERIFIED = User(sub="sub-7", claims={"email": "sara@example.com", "email_verified": True, "name": "Sara S."})
UNVERIFIED = User(sub="sub-8", claims={"email": "owner@example.com", "email_verified": False})


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with run_server_in_thread(require_nonce=True, user_claims=[VERIFIED, UNVERIFIED]) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def settings(settings: Settings, issuer: str) -> Settings:
    provider = {"oidc_issuer": issuer, "oidc_client_id": "majlis", "oidc_client_secret": SecretStr("s" * 24)}
    return settings.model_copy(update={**provider, "sign_ins_per_minute": 1000})


@pytest.fixture
async def browser(world: World) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=world.base_url, timeout=60) as http:
        yield http


async def approved(browser: httpx.AsyncClient, sub: str) -> str:
    """Begins a sign-in and lets the provider approve it; returns where the provider sends the browser."""
    begun = await browser.get("/oidc/start")
    assert begun.status_code == 303, begun.text
    url = httpx.URL(begun.headers["location"])
    assert url.params["code_challenge_method"] == "S256"
    assert {"state", "nonce", "code_challenge"} <= set(url.params)
    async with httpx.AsyncClient(timeout=60) as provider:
        answer = await provider.post(url, data={"sub": sub})
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


async def me(browser: httpx.AsyncClient) -> Any:
    answer = await browser.get("/api/me")
    return answer.json() if answer.is_success else None


async def person(world: World, name: str, external_id: str) -> str:
    body = {"type": "human", "name": name, "externalId": external_id}
    return str((await world.owner.ok("POST", "/api/entities", body))["id"])


@pytest.mark.parametrize("external_id", ["sub-7", "sara@example.com"])
async def test_g13_a_person_signs_in_by_subject_or_verified_email(
    world: World, browser: httpx.AsyncClient, external_id: str
) -> None:
    sara = await person(world, "Sara", external_id)
    assert "Sign in with localhost" in (await browser.get("/")).text
    back = await browser.get(await approved(browser, VERIFIED.sub))
    assert (back.status_code, back.headers["location"]) == (303, "/")
    assert (await me(browser))["id"] == sara
    [entry, *_] = (await world.owner.ok("GET", "/api/audit", actorId=sara))["entries"]
    assert (entry["action"], entry["details"]["by"]) == ("session.opened", "oidc")
    assert (await world.owner.ok("GET", f"/api/entities/{sara}/access"))[0]["kind"] == "session"


async def test_an_unverified_address_and_a_stranger_get_no_account(world: World, browser: httpx.AsyncClient) -> None:
    await world.owner.ok("PATCH", f"/api/entities/{world.owner.id}", {"externalId": "owner@example.com"})
    for sub in (UNVERIFIED.sub, "somebody-else"):
        back = await browser.get(await approved(browser, sub))
        assert back.status_code == 401
        assert "You have no account here" in back.text
        assert await me(browser) is None


async def test_a_sign_in_is_finished_only_by_the_browser_that_began_it(
    world: World, browser: httpx.AsyncClient
) -> None:
    await person(world, "Sara", VERIFIED.sub)
    back = await approved(browser, VERIFIED.sub)
    async with httpx.AsyncClient(base_url=world.base_url, timeout=60) as other:
        assert (await other.get(back)).status_code == 401
        await other.get("/oidc/start")
        assert (await other.get(back)).status_code == 401, "another state"
    back = await approved(browser, VERIFIED.sub)
    state, _, verifier = browser.cookies["majlis_oidc"].split(".")
    assert (await other_browser(world, back, f"{state}.{'x' * 32}.{verifier}")).status_code == 401, "another nonce"
    assert await me(browser) is None


async def other_browser(world: World, back: str, cookie: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=world.base_url, cookies={"majlis_oidc": cookie}, timeout=60) as http:
        return await http.get(back)


async def test_a_code_is_used_once(world: World, browser: httpx.AsyncClient) -> None:
    await person(world, "Sara", VERIFIED.sub)
    back = await approved(browser, VERIFIED.sub)
    cookie = browser.cookies["majlis_oidc"]
    assert (await browser.get(back)).status_code == 303
    assert (await other_browser(world, back, cookie)).status_code == 401


async def test_open_sign_up_makes_members_with_names_of_their_own(settings: Settings) -> None:
    async with serve_world(settings.model_copy(update={"oidc_sign_up": True})) as world:
        await world.person("Sara S.")
        for _ in range(2):
            async with httpx.AsyncClient(base_url=world.base_url, timeout=60) as browser:
                assert (await browser.get(await approved(browser, VERIFIED.sub))).status_code == 303
                who = await me(browser)
                assert (who["name"], who["role"]) == ("Sara S. 2", "member")


async def test_without_a_provider_there_is_no_button(settings: Settings) -> None:
    without = settings.model_copy(update={"oidc_issuer": "", "oidc_client_id": ""})
    async with serve_world(without) as world, httpx.AsyncClient(base_url=world.base_url, timeout=60) as browser:
        assert "<p hidden>" in (await browser.get("/")).text
        assert (await browser.get("/oidc/start")).status_code == 404


async def test_an_unreachable_provider_leaves_the_token_as_a_way_in(settings: Settings) -> None:
    away = settings.model_copy(update={"oidc_issuer": "http://localhost:9"})
    async with serve_world(away) as world, httpx.AsyncClient(base_url=world.base_url, timeout=60) as browser:
        answer = await browser.get("/oidc/start")
        assert answer.status_code == 503
        assert "sign in with a token" in answer.text
