"""Incoming webhooks: any program posts into a space or triggers an agent, exactly once (D4)."""

from __future__ import annotations

import asyncio
import hmac
import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from majlis import clock
from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.runs.house import open_house, says
from tests.world import World

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signed(scheme: str, body: bytes, delivery: str = "d1", secret: str = SECRET) -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, sha256).hexdigest()
    at = datetime.now(UTC)
    match scheme:
        case "github":
            return {"X-Hub-Signature-256": f"sha256={digest}", "X-GitHub-Delivery": delivery}
        case "stripe":
            moment = str(clock.now() // 1000)
            digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, sha256).hexdigest()
            return {"Stripe-Signature": f"t={moment},v1=0000,v1={digest}"}
        case "standard":
            signature = Webhook(secret).sign(delivery, at, body.decode())
            stamp = str(int(at.timestamp()))
            return {"webhook-id": delivery, "webhook-timestamp": stamp, "webhook-signature": signature}
        case "secret":
            return {"X-Webhook-Secret": secret, "Idempotency-Key": delivery}
    return {"Idempotency-Key": delivery}


async def created(world: World, scheme: str = "none", **more: Any) -> Any:
    if scheme != "none":
        await world.owner.ok("PUT", "/api/secrets/HOOK", {"value": SECRET})
    verify = {"scheme": scheme, **({"secret": "secret:HOOK"} if scheme != "none" else {})}
    return await world.owner.ok("POST", "/api/incoming-webhooks", {"name": "Builds", "verify": verify, **more})


async def posted(url: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60) as http:
        return await http.post(url, content=body, headers={"Content-Type": "application/json", **headers})


async def texts(world: World, space: str) -> list[tuple[str, str]]:
    page = await world.owner.history(space)
    return [(message["sender"]["name"], message["text"]) for message in page["messages"]]


@pytest.mark.parametrize("scheme", ["github", "stripe", "standard", "secret", "none"])
async def test_a_delivery_is_posted_once_as_a_service(world: World, scheme: str) -> None:
    """D4: also if the sender tries again, at the same time."""
    space = await world.owner.create_space("Builds")
    hook = await created(world, scheme, spaceId=space, template="{{payload.repo.name}}: {{ payload.tags.1 }}")
    assert hook["url"].startswith(f"{world.base_url}/hooks/")
    body = json.dumps({"id": "evt_1", "repo": {"name": "{{payload}}"}, "tags": ["a", "b"]}).encode()
    headers = signed(scheme, body)
    answers = [each.json() for each in await asyncio.gather(*(posted(hook["url"], body, headers) for _ in range(4)))]
    assert sorted(each["duplicate"] for each in answers) == [False, True, True, True]
    assert await texts(world, space) == [("Builds", "{{payload}}: b")]
    [sender] = [each for each in (await world.owner.space(space))["members"] if each["name"] == "Builds"]
    assert (sender["type"], sender["id"]) == ("service", hook["entityId"])


@pytest.mark.parametrize("scheme", ["github", "stripe", "standard", "secret"])
async def test_a_request_that_is_not_signed_is_refused(world: World, scheme: str) -> None:
    """D4: no signature, another secret, another body, odd headers."""
    space = await world.owner.create_space("Builds")
    hook = await created(world, scheme, spaceId=space)
    right = signed(scheme, b'{"text": "a"}')
    wrong = signed(scheme, b'{"text": "a"}', secret="whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    odd = dict.fromkeys(right, ",=,t=x v1 \xff")
    refused = [{}, wrong, odd, dict.fromkeys(right, "")]
    for headers in refused:
        raw = {name: value.encode("latin-1").decode("latin-1") for name, value in headers.items()}
        encoded: Any = {name: value.encode("latin-1") for name, value in raw.items()}
        assert_error(await posted(hook["url"], b'{"text": "a"}', encoded), 401, "bad_signature")
    if scheme != "secret":
        assert_error(await posted(hook["url"], b'{"text": "b"}', right), 401, "bad_signature")
    for address in ("unknown", "%00", "%ED%A0%80"):
        assert_error(await posted(f"{world.base_url}/hooks/{address}", b"{}", right), 404, "unknown_webhook")
    assert await texts(world, space) == []


async def test_any_body_is_accepted(world: World) -> None:
    """D4: JSON, a form, text, bytes; too long texts are cut, and headers with secrets are not shown."""
    space = await world.owner.create_space("Builds")
    plain = (await created(world, spaceId=space))["url"]
    await posted(plain, b'{"text": "from JSON"}', {})
    await posted(plain, b"a=1&b=2", {"Content-Type": "application/x-www-form-urlencoded"})
    await posted(
        plain, b"payload=%7B%22text%22%3A%22from+a+form%22%7D", {"Content-Type": "application/x-www-form-urlencoded"}
    )
    await posted(plain, b"just \x00text \xff", {"Content-Type": "text/plain"})
    await posted(plain, b'{"text": "' + b"x" * 100_000 + b'"}', {})
    assert (await posted(plain, b"", {})).json() == {"posted": False, "duplicate": False}
    found = [text for _, text in await texts(world, space)]
    assert found[0] == "from JSON"
    assert json.loads(found[1].removeprefix("```json").removesuffix("```")) == {"a": "1", "b": "2"}
    assert found[2:4] == ["from a form", "just text \ufffd"]
    assert len(found[4]) == 60_001
    body = {
        "name": "Heads",
        "verify": {"scheme": "none"},
        "spaceId": space,
        "template": "{{headers.authorization}}|{{headers.x-kind}}",
    }
    heads = await world.owner.ok("POST", "/api/incoming-webhooks", body)
    await posted(heads["url"], b"{}", {"Authorization": "Bearer s", "X-Kind": "push"})
    assert (await texts(world, space))[-1] == ("Heads", "|push")


async def test_a_webhook_triggers_an_agent(settings: Settings) -> None:
    """D4: without a space by an event, in a space by a mention; each delivery once."""
    async with open_house(settings) as house:
        helper = await house.agent("Helper")
        space = await house.space("Builds", helper, triggers="mentioned")
        house.model.script = says("Seen.")
        event = await created(house.world, "github", agentId=helper.id)
        body = b'{"build": 7}'
        for _ in range(2):
            assert (await posted(event["url"], body, signed("github", body))).is_success
        await house.until_idle()
        [run] = await house.runs(helper)
        assert run["trigger"]["payload"] == {"build": 7}
        both = {"name": "Alerts", "verify": {"scheme": "none"}, "spaceId": space, "agentId": helper.id}
        alert = await house.owner.ok("POST", "/api/incoming-webhooks", both)
        await posted(alert["url"], b'{"text": "Fire"}', {})
        await house.until_idle()
        assert await house.texts(space) == [("Alerts", "Fire"), ("Helper", "Seen.")]


async def test_a_webhook_that_is_removed_stops(world: World) -> None:
    """D4: or whose service has left the space, or whose secret is gone; nothing is posted."""
    space = await world.owner.create_space("Builds")
    hook = await created(world, "github", spaceId=space)
    assert [each["id"] for each in await world.owner.ok("GET", "/api/incoming-webhooks")] == [hook["id"]]
    await world.owner.ok("DELETE", "/api/secrets/HOOK")
    assert_error(await posted(hook["url"], b"{}", signed("github", b"{}")), 503, "unknown_secret")
    await world.owner.ok("PUT", "/api/secrets/HOOK", {"value": SECRET})
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{hook['entityId']}")
    assert (await posted(hook["url"], b"{}", signed("github", b"{}"))).status_code in (403, 404)
    await world.owner.ok("DELETE", f"/api/incoming-webhooks/{hook['id']}")
    assert_error(await posted(hook["url"], b"{}", signed("github", b"{}")), 404, "unknown_webhook")
    assert await world.owner.ok("GET", "/api/incoming-webhooks") == []
    assert await texts(world, space) == []


async def test_bad_webhooks_are_refused(world: World) -> None:
    """D4: for admins only, with a target, a stored secret and a template that can be filled."""
    space = await world.owner.create_space("Builds")
    helper = await world.agent("Helper", model="demo")
    await world.owner.ok("PUT", "/api/secrets/ODD", {"value": "§§§"})
    none: dict[str, Any] = {"scheme": "none"}
    for status, code, given in (
        (422, "no_target", {}),
        (422, "invalid_template", {"spaceId": space, "template": "{{#payload}}x{{/payload}}"}),
        (422, "invalid_verify", {"spaceId": space, "verify": {"scheme": "github"}}),
        (422, "invalid_verify", {"spaceId": space, "verify": {"scheme": "none", "secret": "secret:ODD"}}),
        (422, "invalid_secret", {"spaceId": space, "verify": {"scheme": "standard", "secret": "secret:ODD"}}),
        (403, "unknown_secret", {"spaceId": space, "verify": {"scheme": "github", "secret": "secret:NOT"}}),
        (422, "invalid_request", {"spaceId": space, "verify": {"scheme": "github", "secret": "plain"}}),
        (422, "not_a_member", {"spaceId": space, "agentId": helper.id}),
        (404, "unknown_agent", {"agentId": "ent_1"}),
        (404, "unknown_space", {"spaceId": "spc_1"}),
    ):
        body = {"name": "Builds", "verify": none, **given}
        assert_error(await world.owner.http.post("/api/incoming-webhooks", json=body), status, code)
    sara = await world.person("Sara")
    body = {"name": "Builds", "verify": none, "spaceId": space}
    assert_error(await sara.http.post("/api/incoming-webhooks", json=body), 403, "not_allowed")
    probe = {**body, "verify": {"scheme": "github", "secret": "secret:NOT"}}
    assert_error(await sara.http.post("/api/incoming-webhooks", json=probe), 403, "not_allowed")
    assert_error(await sara.http.get("/api/incoming-webhooks"), 403, "not_allowed")
    assert await world.owner.ok("GET", "/api/incoming-webhooks") == []
