"""Doing more with a token than its scopes allow."""

from __future__ import annotations

from typing import Any

import httpx

from majlis.api.app import openapi_document
from tests.api.test_bad_input import assert_error
from tests.world import Person, World

NO_SCOPE_NEEDED = ("/api/me", "/api/session", "/api/health")


async def limited(world: World, *scopes: str) -> Person:
    """The owner, with a token of these scopes."""
    return await world.with_token(world.owner.id, "Owner", scopes=list(scopes))


def routes() -> list[tuple[str, str]]:
    """Every route that needs a token, with ids of the right shape."""
    return [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, methods in openapi_document()["paths"].items()
        for method in methods
        if path.startswith("/api/") and not path.startswith(NO_SCOPE_NEEDED)
    ]


async def code_of(person: Person, method: str, path: str, body: Any = None) -> str:
    path = "/".join("msg_0000000000000000" if part.endswith("_id") else part for part in path.split("/"))
    async with person.http.stream(method, path, json=body) as answer:
        if answer.is_success:
            return ""
        await answer.aread()
        return str(answer.json()["error"]["code"])


async def test_every_route_checks_the_scope_of_its_method(world: World) -> None:
    reader, approver = await limited(world, "read"), await limited(world, "approve")
    assert len(routes()) > 50
    for method, path in routes():
        assert await code_of(approver, method, path) == (
            "missing_scope" if not path.endswith(("/tool-results", "/answers")) else "invalid_request"
        ), (method, path)
        if method != "GET":
            assert await code_of(reader, method, path) == "missing_scope", (method, path)
    for path in ("/api/spaces", "/api/entities", "/api/runs"):
        assert await code_of(reader, "GET", path) == ""
    assert (await approver.get("/api/me")).is_success


async def test_without_admin_an_owners_token_administers_nothing(world: World) -> None:
    sara = await world.person("Sara")
    writer = await limited(world, "read", "write")
    assert (await writer.ok("GET", "/api/me"))["role"] == "member"
    await writer.create_space("Own space")
    for method, path, body in (
        ("POST", "/api/entities", {"type": "human", "name": "Eve"}),
        ("PATCH", f"/api/entities/{sara.id}", {"role": "owner"}),
        ("POST", f"/api/entities/{sara.id}/tokens", {}),
        ("POST", f"/api/entities/{world.owner.id}/tokens", {"scopes": ["admin"]}),
        ("POST", f"/api/entities/{world.owner.id}/sign-in-links", None),
        ("POST", "/api/agents", {"name": "Bot", "config": {}}),
        ("GET", "/api/agents", None),
        ("GET", "/api/spaces/all", None),
        ("GET", "/api/audit", None),
    ):
        assert_error(await writer.http.request(method, path, json=body), 403, "not_allowed")


async def test_a_token_and_a_session_get_no_more_than_the_token_that_made_them(world: World) -> None:
    admin = await limited(world, "admin")
    tokens = f"/api/entities/{world.owner.id}/tokens"
    assert_error(await admin.post(tokens, {"scopes": ["write"]}), 403, "missing_scope")
    made = await admin.ok("POST", tokens, {})
    assert made["scopes"] == ["admin"]
    assert_error(await world.owner.post(tokens, {"scopes": ["everything"]}), 422, "invalid_request")
    link = await admin.ok("POST", f"/api/entities/{world.owner.id}/sign-in-links")
    async with httpx.AsyncClient(
        base_url=world.base_url, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60
    ) as browser:
        assert (await browser.post("/api/session", json={"code": link["url"].rsplit("/", 1)[1]})).is_success
        assert_error(await browser.post("/api/spaces", json={"name": "x"}), 403, "missing_scope")
