"""Tokens, roles, sessions, rate limits, and responses to unknown callers."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest

from majlis import clock
from majlis.api.app import openapi_document
from majlis.api.auth import RateLimit
from majlis.errors import TooMany
from majlis.settings import Settings
from tests.api.test_bad_input import assert_error, everything
from tests.world import World, serve_world

HOUR = 3_600_000


async def test_without_a_valid_token_everything_but_health_is_refused(world: World) -> None:
    async with httpx.AsyncClient(base_url=world.base_url) as http:
        for path in ("/api/me", "/api/spaces", "/api/entities", "/api/agents", "/api/search?q=x"):
            answer = await http.get(path)
            assert_error(answer, 401, "unauthenticated")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        for header in ("Bearer", "Bearer nonsense", "Basic b3duZXI6", "Bearer mj_" + "x" * 43, "Bearer ÿ"):
            answer = await http.get("/api/me", headers=[(b"Authorization", header.encode("latin-1"))])
            assert answer.status_code == 401
        assert (await http.get("/api/health")).json()["status"] == "ok"


async def test_an_unknown_caller_gets_401_before_the_request_is_validated(world: World) -> None:
    """An unknown token with a bad body or an unknown id used to get 422 or 404 instead of 401."""
    async with httpx.AsyncClient(base_url=world.base_url) as http:
        json = {"Content-Type": "application/json"}
        for headers in (json, {**json, "Authorization": "Bearer nonsense"}):
            for method, path in guarded_routes():
                for body in (b"{", b'{"nonsense": 1}'):
                    answer = await http.request(method, f"{path}?limit=x", headers=headers, content=body)
                    assert answer.status_code == 401, f"{method} {path} {body!r}"
        assert_error(await http.post("/api/session", content=b"{", headers=json), 400, "malformed_json")
    assert_error(await world.owner.get("/api/spaces/x"), 404, "not_found")


def guarded_routes() -> list[tuple[str, str]]:
    """Every route that needs a token, with an id that does not exist."""
    return [
        (method.upper(), re.sub(r"{\w+}", "x", path))
        for path, methods in openapi_document()["paths"].items()
        for method in methods
        if not path.startswith(("/api/health", "/api/session", "/metrics")) and path.startswith("/api/")
    ]


async def test_an_expired_and_a_revoked_token_open_nothing(world: World) -> None:
    sara = await world.person("Sara")
    brief = await world.with_token(sara.id, "Sara", expiresAt=clock.iso(clock.now() + HOUR))
    assert (await brief.get("/api/me")).status_code == 200
    clock.advance(HOUR)
    assert_error(await brief.get("/api/me"), 401, "invalid_token")
    token = (await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens"))[0]
    await world.owner.ok("DELETE", f"/api/tokens/{token['id']}")
    assert_error(await sara.get("/api/me"), 401, "invalid_token")
    past = await world.owner.post(f"/api/entities/{sara.id}/tokens", {"expiresAt": "2020-01-01T00:00:00.000Z"})
    assert_error(past, 422, "expired")


async def test_a_token_is_shown_once_and_stored_nowhere(world: World) -> None:
    sara = await world.person("Sara")
    listed = (await world.owner.get(f"/api/entities/{sara.id}/tokens")).text
    assert sara.token not in listed
    stored = repr(await world.gateway.db.read(everything))
    assert sara.token not in stored
    assert sara.token[3:] not in stored


async def test_only_owner_and_admins_make_entities_agents_and_tokens(world: World) -> None:
    sara = await world.person("Sara")
    attempts = [
        ("POST", "/api/entities", {"type": "human", "name": "Eve"}),
        ("PATCH", f"/api/entities/{sara.id}", {"name": "Boss"}),
        ("DELETE", f"/api/entities/{sara.id}", None),
        ("POST", f"/api/entities/{sara.id}/tokens", {}),
        ("POST", f"/api/entities/{sara.id}/sign-in-links", None),
        ("POST", "/api/agents", {"name": "Bot", "config": {}}),
        ("GET", "/api/agents", None),
    ]
    for method, path, body in attempts:
        assert_error(await sara.http.request(method, path, json=body), 403, "not_allowed")
    admin = await world.person("Ada", role="admin")
    made = await admin.ok("POST", "/api/entities", {"type": "human", "name": "Eve"})
    await admin.ok("POST", f"/api/entities/{made['id']}/tokens", {})


async def test_an_admin_has_no_power_over_the_owner(world: World) -> None:
    admin = await world.person("Ada", role="admin")
    owner = f"/api/entities/{world.owner.id}"
    for method, path, body in (
        ("POST", f"{owner}/tokens", {}),
        ("POST", f"{owner}/sign-in-links", None),
        ("PATCH", owner, {"name": "Pawn"}),
        ("DELETE", owner, None),
        ("PATCH", f"/api/entities/{admin.id}", {"role": "owner"}),
        ("POST", "/api/entities", {"type": "human", "name": "Puppet", "role": "owner"}),
    ):
        assert_error(await admin.http.request(method, path, json=body), 403, "not_allowed")
    assert_error(await world.owner.delete(owner), 409, "last_owner")
    assert_error(await world.owner.patch(owner, {"role": "member"}), 409, "last_owner")


async def test_the_space_of_others_and_its_messages_are_unknown_to_every_caller(world: World) -> None:
    sara = await world.person("Sara")
    space = await sara.create_space("Hers")
    message = await sara.say(space, "private")
    stranger = await world.person("Eve")
    for person in (stranger, world.owner):
        for method, path, body in (
            ("GET", f"/api/spaces/{space}", None),
            ("GET", f"/api/spaces/{space}/messages", None),
            ("GET", f"/api/spaces/{space}/members", None),
            ("GET", f"/api/spaces/{space}/events", None),
            ("GET", f"/api/spaces/{space}/phases", None),
            ("GET", f"/api/messages/{message['id']}", None),
            ("POST", f"/api/spaces/{space}/messages", {"text": "hi"}),
            ("POST", f"/api/spaces/{space}/members", {"entityId": person.id}),
            ("POST", f"/api/spaces/{space}/read", {"lastMessageId": message["id"]}),
            ("POST", f"/api/spaces/{space}/phase", {"phase": "x"}),
            ("PATCH", f"/api/spaces/{space}", {"name": "Mine"}),
            *([("DELETE", f"/api/spaces/{space}", None)] if person is stranger else []),
        ):
            assert (await person.http.request(method, path, json=body)).status_code == 404
        assert (await person.ok("GET", "/api/search", q="private"))["messages"] == []
        assert space not in [listed["id"] for listed in await person.ok("GET", "/api/spaces")]


async def test_the_sender_is_always_the_tokens_entity(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    for field in ("sender", "senderId", "entityId", "from", "runId"):
        refused = await sara.post(f"/api/spaces/{space}/messages", {"text": "x", field: world.owner.id})
        assert_error(refused, 422, "invalid_request")
    said = await sara.say(space, "as myself")
    assert said["sender"] == {"id": sara.id, "name": "Sara", "type": "human"}


async def test_a_revoked_token_takes_the_sessions_along_that_it_opened(world: World) -> None:
    """A browser that had signed in with a stolen token used to stay signed in for a month after the token was
    revoked."""
    sara = await world.person("Sara")
    other = await world.with_token(sara.id, "Sara")
    own_page = {"sec-fetch-site": "same-origin"}
    cookies = []
    for token in (sara.token, other.token):
        async with httpx.AsyncClient(base_url=world.base_url, headers=own_page) as browser:
            assert (await browser.post("/api/session", json={"token": token})).is_success
            cookies.append(browser.cookies)
    [first, _] = await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens")
    await world.owner.ok("DELETE", f"/api/tokens/{first['id']}")
    for jar, status in zip(cookies, (401, 200), strict=True):
        async with httpx.AsyncClient(base_url=world.base_url, cookies=jar) as browser:
            assert (await browser.get("/api/me")).status_code == status


async def test_a_session_cookie_works_from_our_own_pages_only(world: World) -> None:
    own = {"Origin": world.base_url}
    async with httpx.AsyncClient(base_url=world.base_url) as browser:
        answer = await browser.post("/api/session", json={"token": world.owner.token}, headers=own)
        assert answer.status_code == 201
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert (await browser.get("/api/me")).json()["id"] == world.owner.id
        space = {"name": "From the browser"}
        for headers in (
            {},
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site", "Origin": world.base_url},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"},
            {"Origin": "null"},
        ):
            assert_error(await browser.post("/api/spaces", json=space, headers=headers), 403, "cross_site")
        for headers in (own, {"Sec-Fetch-Site": "same-origin"}):
            assert (await browser.post("/api/spaces", json=space, headers=headers)).status_code == 201
        assert (await browser.delete("/api/session", headers=own)).status_code == 204
        assert_error(await browser.get("/api/me", headers={"Cookie": cookie.split(";")[0]}), 401, "session_ended")


async def test_a_one_time_link_signs_in_once_at_any_concurrency(world: World) -> None:
    sara = await world.person("Sara")
    link = await world.owner.ok("POST", f"/api/entities/{sara.id}/sign-in-links")
    code = link["url"].rsplit("/", 1)[1]
    async with httpx.AsyncClient(base_url=world.base_url, headers={"Origin": world.base_url}) as http:
        answers = await asyncio.gather(*(http.post("/api/session", json={"code": code}) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201, *[401] * 7]
    (signed_in,) = [answer.json() for answer in answers if answer.status_code == 201]
    assert signed_in["id"] == sara.id


async def test_signing_in_is_rate_limited_by_address(settings: Settings) -> None:
    async with serve_world(settings.model_copy(update={"sign_ins_per_minute": 3})) as world:
        async with httpx.AsyncClient(base_url=world.base_url, headers={"Origin": world.base_url}) as http:
            answers = [await http.post("/api/session", json={"token": f"guess {n}"}) for n in range(4)]
        assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
        assert_error(answers[3], 429, "rate_limited")
        assert 1 <= int(answers[3].headers["retry-after"]) <= 20


async def test_each_caller_has_a_rate_limit_of_its_own(settings: Settings) -> None:
    limits = {"requests_per_second": 1, "requests_burst": 6}
    async with serve_world(settings.model_copy(update=limits)) as world:
        sara = await world.person("Sara")
        statuses = [(await sara.get("/api/me")).status_code for _ in range(8)]
        assert statuses[:6] == [200] * 6
        assert 429 in statuses[6:]
        assert (await world.owner.get("/api/me")).status_code == 200


def test_a_bucket_refills_steadily_and_says_how_long_to_wait() -> None:
    now = 0.0
    limit = RateLimit("test", per_second=2, burst=3, clock=lambda: now)
    for _ in range(3):
        limit.spend("a")
    with pytest.raises(TooMany) as refused:
        limit.spend("a")
    assert refused.value.retry_after == 1
    limit.spend("b")
    now = 0.5
    limit.spend("a")
    with pytest.raises(TooMany):
        limit.spend("a")
    now = 100.0
    for _ in range(3):
        limit.spend("a")
    with pytest.raises(TooMany):
        limit.spend("a")


async def test_every_answer_has_security_headers_and_no_cors(world: World) -> None:
    for path in ("/api/me", "/api/health", "/api/nothing", "/metrics"):
        answer = await world.owner.http.get(path, headers={"Origin": "https://elsewhere.example"})
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


async def test_a_named_origin_may_call(settings: Settings) -> None:
    origin = "https://app.example"
    async with serve_world(settings.model_copy(update={"allowed_origins": [origin]})) as world:
        answer = await world.owner.http.get("/api/me", headers={"Origin": origin})
        assert answer.headers["access-control-allow-origin"] == origin
        answer = await world.owner.http.get("/api/me", headers={"Origin": "https://other.example"})
        assert "access-control-allow-origin" not in answer.headers


async def test_a_deleted_entity_is_gone_everywhere_and_its_name_is_free(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    await sara.say(space, "still here afterwards")
    async with world.owner.follow(space) as stream:
        await stream.next()
        await world.owner.ok("DELETE", f"/api/entities/{sara.id}")
        await stream.until("space.member.left", entityId=sara.id)
    assert (await sara.get("/api/me")).status_code == 401
    assert (await world.owner.get(f"/api/entities/{sara.id}")).status_code == 404
    history = await world.owner.history(space)
    assert history["messages"][0]["sender"]["name"] == "Sara"
    again = await world.person("SARA")
    assert again.id != sara.id


async def test_metrics_count_requests_by_route_without_names(world: World) -> None:
    space = await world.owner.create_space("Secret Name")
    await world.owner.say(space, "hello")
    text = (await world.owner.get("/metrics")).text
    assert 'majlis_http_requests_total{method="POST",route="/api/spaces/{space_id}/messages",status="201"}' in text
    assert "majlis_messages_posted_total" in text
    assert space not in text
    assert "Secret" not in text
