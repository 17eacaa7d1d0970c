"""D1: who may speak with `/mcp`: bearer tokens, no cookies, no pages of other sites."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import httpx
import pytest

from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.world import World, serve_world

BOTH = {"accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def ping(http: httpx.AsyncClient, **headers: str) -> httpx.Response:
    return await http.post("/mcp", json=PING, headers={**BOTH, **headers})


async def test_d1_without_a_valid_token_the_answer_says_where_to_learn_more(world: World) -> None:
    async with httpx.AsyncClient(base_url=world.base_url, timeout=60) as http:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic x"}):
            for method in ("POST", "GET", "DELETE"):
                answer = await http.request(method, "/mcp", headers={**BOTH, **headers})
                assert answer.status_code == 401
                assert answer.json()["error"]["code"] in ("unauthenticated", "invalid_token")
                where = f'resource_metadata="{world.base_url}/.well-known/oauth-protected-resource/mcp"'
                assert where in answer.headers["www-authenticate"]
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
            found = (await http.get(path)).json()
            assert found["resource"] == f"{world.base_url}/mcp"
            assert found["bearer_methods_supported"] == ["header"]


async def test_d1_a_browser_session_is_refused(world: World) -> None:
    own = {"Sec-Fetch-Site": "same-origin"}
    async with httpx.AsyncClient(base_url=world.base_url, headers=own, timeout=60) as browser:
        assert (await browser.post("/api/session", json={"token": world.owner.token})).is_success
        assert (await browser.get("/api/me")).is_success
        assert_error(await ping(browser), 401, "unauthenticated")


async def test_d1_pages_of_other_sites_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"public_url": "https://chat.example", "allowed_origins": ["https://inspector.example"]}
    monkeypatch.setattr(world.gateway, "settings", world.gateway.settings.model_copy(update=own))
    for origin, host, status in (
        ("https://evil.example", "localhost:8700", 403),
        # DNS rebinding: the name of the page leads to this server.
        ("http://evil.example:8700", "evil.example:8700", 403),
        ("null", "localhost:8700", 403),
        ("http://localhost:1", "localhost:8700", 403),
        ("http://localhost:8700", "localhost:8700", 200),
        ("http://[::1]:8700", "[::1]:8700", 200),
        ("https://chat.example", "chat.example", 200),
        ("https://inspector.example", "localhost:8700", 200),
    ):
        assert (await ping(world.owner.http, origin=origin, host=host)).status_code == status, origin


async def test_d1_there_are_no_sessions_to_open_or_delete(world: World) -> None:
    for method in ("GET", "DELETE"):
        answer = await world.owner.http.request(method, "/mcp", headers=BOTH)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_d1_an_invalid_message_is_a_protocol_error(world: World) -> None:
    http = world.owner.http
    post: dict[str, Any] = {"headers": {**BOTH, "content-type": "application/json"}}
    assert (await http.post("/mcp", content=b"{", **post)).status_code == 400
    assert (await http.post("/mcp", content=b"[]", **post)).status_code == 400
    assert (await http.post("/mcp", content=b'{"jsonrpc":"2.0","id":1,"method":"x"}', **post)).status_code == 200
    assert (await http.post("/mcp", json=PING, headers={"accept": "text/html"})).status_code == 406
    assert_error(await http.post("/mcp", content=b"x" * 2_000_000, **post), 413, "body_too_large")
    assert (await ping(http)).status_code == 200


async def test_d1_requests_count_for_the_rate_limit(settings: Settings) -> None:
    limited = settings.model_copy(update={"requests_per_second": 0.001, "requests_burst": 3})
    async with serve_world(limited) as world:
        answers = [await ping(world.owner.http) for _ in range(5)]
        assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].headers["retry-after"]


def test_d1_a_server_without_mcp_clients_does_not_load_the_package() -> None:
    code = "import sys, majlis.http_server; print([name for name in sys.modules if name.partition('.')[0] == 'mcp'])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
