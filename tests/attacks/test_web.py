"""Reading metrics from outside, and stealing or planting a session cookie."""

from __future__ import annotations

import httpx

from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.world import World, serve_world

OUTSIDE = {"X-Forwarded-For": "203.0.113.9"}


async def test_metrics_need_a_token_unless_the_request_is_local_or_a_setting_opens_them(settings: Settings) -> None:
    async with serve_world(settings) as world, httpx.AsyncClient(base_url=world.base_url, timeout=60) as http:
        assert (await http.get("/metrics")).is_success
        assert_error(await http.get("/metrics", headers=OUTSIDE), 401, "unauthenticated")
        sara, service = await world.person("Sara"), await world.person("Prometheus", "service")
        for person, status in ((sara, 403), (service, 200), (world.owner, 200)):
            assert (await person.http.get("/metrics", headers=OUTSIDE)).status_code == status
    async with serve_world(settings.model_copy(update={"metrics_open": True})) as world:
        world.owner.http.headers.pop("Authorization")
        assert (await world.owner.http.get("/metrics", headers=OUTSIDE)).is_success


async def test_a_plain_cookie_is_not_accepted_over_https(settings: Settings) -> None:
    """A page on a subdomain could plant a session cookie for the whole domain."""
    proxied = settings.model_copy(update={"trusted_proxies": ["127.0.0.1"]})
    https = {"X-Forwarded-Proto": "https", "Sec-Fetch-Site": "same-origin"}
    async with (
        serve_world(proxied) as world,
        httpx.AsyncClient(base_url=world.base_url, timeout=60, headers=https) as http,
    ):
        answer = await http.post("/api/session", json={"token": world.owner.token})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-majlis_session=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
        assert "Domain" not in cookie
        secret = cookie.split(";")[0].split("=", 1)[1]
        assert (await http.get("/api/me", headers={"Cookie": f"__Host-majlis_session={secret}"})).is_success
        planted = await http.get("/api/me", headers={"Cookie": f"majlis_session={secret}"})
        assert_error(planted, 401, "unauthenticated")
        gone = await http.delete("/api/session", headers={"Cookie": f"__Host-majlis_session={secret}"})
        assert gone.headers["set-cookie"].startswith('__Host-majlis_session="";')


async def test_a_local_gateway_without_tls_signs_in(world: World) -> None:
    async with httpx.AsyncClient(
        base_url=world.base_url, timeout=60, headers={"Sec-Fetch-Site": "same-origin"}
    ) as http:
        assert (await http.post("/api/session", json={"token": world.owner.token})).is_success
        assert (await http.get("/api/me")).is_success
