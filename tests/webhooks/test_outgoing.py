"""Outgoing webhooks: events of spaces are posted to other programs, signed, and none is lost (D4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

import majlis.webhooks.send
from majlis import clock
from majlis.janitor import delete_old_events
from majlis.settings import Settings
from majlis.store.tables import outgoing_webhooks, webhook_cursors, webhook_deliveries
from majlis.webhooks.queue import (
    DAY_MILLIS,
    WEBHOOK_LEASE_MILLIS,
    back_off,
    claim_deliveries,
    fill_queue,
    settle_delivery,
)
from tests.api.test_bad_input import assert_error
from tests.conditions import until
from tests.webhooks.receiver import Receiver, open_receiver
from tests.world import Person, World, serve_world


@pytest.fixture
async def receiver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    monkeypatch.setattr(majlis.webhooks.send, "_EVERY_SECONDS", 0.05)
    async with open_receiver() as opened:
        yield opened


@pytest.fixture
def settings(settings: Settings, receiver: Receiver) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": [receiver.host]})


async def created(who: Person, receiver: Receiver, *events: str, **more: Any) -> Any:
    body = {"url": receiver.url, "events": list(events) or ["space.message"], **more}
    return await who.ok("POST", "/api/outgoing-webhooks", body)


async def log_of(who: Person, hook: Any) -> list[Any]:
    found: list[Any] = await who.ok("GET", f"/api/outgoing-webhooks/{hook['id']}/deliveries")
    return found


async def until_log(who: Person, hook: Any, **wanted: Any) -> Any:
    """The newest delivery, once it is so."""
    found: list[Any] = []

    async def holds() -> bool:
        found[:] = await log_of(who, hook)
        return bool(found) and all(found[0][name] == value for name, value in wanted.items())

    await until(holds)
    return found[0]


async def test_d4_events_of_a_space_are_sent_and_signed(world: World, receiver: Receiver) -> None:
    """Only the chosen events of this space, from now on, each once."""
    space, other = [await world.owner.create_space(name) for name in ("Alpha", "Beta")]
    await world.owner.say(space, "before")
    hook = await created(world.owner, receiver, "space.message", "space.member.joined", spaceId=space)
    assert hook["secret"].startswith("whsec_")
    message = await world.owner.say(space, "one")
    await world.owner.say(other, "elsewhere")
    sara = await world.person("Sara")
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    await world.owner.ok("PUT", f"/api/messages/{message['id']}/reactions/👍")
    await world.owner.say(space, "two")
    got = await receiver.until_got(3)
    await until_log(world.owner, hook, state="delivered")
    for each in got:
        each.verify(hook["secret"])
        assert each.headers["content-type"] == "application/json"
    by_seq = sorted((each.event["data"]["eventSeq"], each.event["type"]) for each in got)
    assert [kind for _, kind in by_seq] == ["space.message", "space.member.joined", "space.message"]
    first = next(each for each in got if each.event["data"]["eventSeq"] == by_seq[0][0])
    assert first.event["data"]["message"] == message
    entries = await log_of(world.owner, hook)
    assert {each["id"] for each in entries} == {each.id for each in got}
    assert [(each["state"], each["status"], each["attempts"]) for each in entries] == [("delivered", 200, 1)] * 3
    [listed] = await world.owner.ok("GET", "/api/outgoing-webhooks")
    assert "secret" not in listed
    assert (await world.owner.delete(f"/api/outgoing-webhooks/{hook['id']}")).status_code == 204
    await world.owner.say(space, "three")
    assert await world.owner.ok("GET", "/api/outgoing-webhooks") == []


async def test_d4_a_failed_delivery_is_repeated_with_the_same_id(world: World, receiver: Receiver) -> None:
    space = await world.owner.create_space("Alpha")
    hook = await created(world.owner, receiver, spaceId=space)
    statuses = iter([500, 302, 200])
    receiver.more = "Location: http://127.0.0.1:1/\r\n"
    receiver.answer = lambda received: next(statuses)
    await world.owner.say(space, "one")
    entry = await until_log(world.owner, hook, attempts=1, status=500)
    assert (entry["state"], entry["error"]) == ("pending", "The receiver responded 500.")
    assert (await world.owner.ok("GET", "/api/outgoing-webhooks"))[0]["failingSince"] is not None
    clock.advance(back_off(1))
    # A redirect is not followed.
    entry = await until_log(world.owner, hook, attempts=2, status=302)
    assert entry["state"] == "pending"
    clock.advance(back_off(2))
    entry = await until_log(world.owner, hook, state="delivered")
    assert (entry["attempts"], entry["status"], entry["error"]) == (3, 200, None)
    assert {each.id for each in receiver.got} == {entry["id"]}
    assert len(receiver.got) == 3
    receiver.got[-1].verify(hook["secret"])
    assert (await world.owner.ok("GET", "/api/outgoing-webhooks"))[0]["failingSince"] is None


async def test_d4_send_again(world: World, receiver: Receiver) -> None:
    space = await world.owner.create_space("Alpha")
    hook = await created(world.owner, receiver, spaceId=space)
    await world.owner.say(space, "one")
    entry = await until_log(world.owner, hook, state="delivered")
    path = f"/api/outgoing-webhooks/{hook['id']}/deliveries"
    again = await world.owner.post(f"{path}/{entry['id']}/retry")
    assert (again.status_code, again.json()["state"]) == (202, "pending")
    got = await receiver.until_got(2)
    assert got[0].id == got[1].id
    assert_error(await world.owner.post(f"{path}/whd_0000000000000000/retry"), 404, "unknown_delivery")


async def test_d4_a_receiver_that_fails_for_a_day_is_disabled(world: World, receiver: Receiver) -> None:
    """With a notice in the space. A delivery is given up after a day."""
    space = await world.owner.create_space("Alpha")
    hook = await created(world.owner, receiver, spaceId=space)
    receiver.answer = lambda received: 503
    await world.owner.say(space, "one")
    await until_log(world.owner, hook, attempts=1, status=503)
    clock.advance(DAY_MILLIS)
    entry = await until_log(world.owner, hook, state="failed")
    assert (entry["attempts"], entry["status"]) == (2, 503)
    [listed] = await world.owner.ok("GET", "/api/outgoing-webhooks")
    assert (listed["reason"], listed["disabledAt"] is not None) == ("failing", True)
    notice = (await world.owner.history(space))["messages"][-1]
    assert (notice["kind"], receiver.host in notice["text"]) == ("notice", True)
    assert "a=1" not in notice["text"]
    path = f"/api/outgoing-webhooks/{hook['id']}/deliveries/{entry['id']}/retry"
    assert_error(await world.owner.post(path), 409, "webhook_disabled")
    await world.owner.say(space, "two")
    assert len(await log_of(world.owner, hook)) == 1


async def test_d4_a_receiver_that_is_gone_is_disabled_at_once(world: World, receiver: Receiver) -> None:
    space = await world.owner.create_space("Alpha")
    await created(world.owner, receiver, spaceId=space)
    receiver.answer = lambda received: 410
    await world.owner.say(space, "one")

    async def disabled() -> bool:
        [listed] = await world.owner.ok("GET", "/api/outgoing-webhooks")
        return bool(listed["reason"] == "gone")

    await until(disabled)


async def test_d4_a_slow_receiver_does_not_delay_others(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await world.owner.create_space("Alpha")
    monkeypatch.setattr(majlis.webhooks.send, "TIMEOUT_SECONDS", 600)
    slow = await created(world.owner, receiver, spaceId=space)
    quick = await created(world.owner, receiver, spaceId=space)
    sent = 3 * majlis.webhooks.send.MAX_PER_WEBHOOK

    def of_slow(received: Any) -> int | None:
        try:
            received.verify(slow["secret"])
        except Exception:
            return 200
        return None

    receiver.answer = of_slow
    for n in range(sent):
        await world.owner.say(space, f"m{n}")

    async def all_quick() -> bool:
        return [each["state"] for each in await log_of(world.owner, quick)].count("delivered") == sent

    await until(all_quick)
    assert 1 <= receiver.most_held <= majlis.webhooks.send.MAX_PER_WEBHOOK
    assert all(each["state"] == "pending" for each in await log_of(world.owner, slow))


async def test_d4_nothing_is_lost_while_no_node_sends(settings: Settings, receiver: Receiver) -> None:
    """The event is in the log with its change; the next start finds it. A node that died while it sent is replaced."""
    async with serve_world(settings) as world:
        space = await world.owner.create_space("Alpha")
        hook = await created(world.owner, receiver, spaceId=space)
        [task] = [each for each in world.gateway._tasks if each.get_name() == "webhooks"]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await world.owner.say(space, "one")
        # The process dies after the claim, before the request.
        await world.gateway.db.write(fill_queue)
        [lost] = await world.gateway.db.write(claim_deliveries, [], 10)
        await world.owner.say(space, "two")
        token = world.owner.token
    assert receiver.got == []
    clock.advance(WEBHOOK_LEASE_MILLIS)
    async with serve_world(settings) as world:
        owner = await world.anybody(token)
        got = await receiver.until_got(2)
        assert sorted(each.text for each in got) == ["one", "two"]
        assert lost.id in {each.id for each in got}
        await until_log(owner, hook, state="delivered")
        # The first node has lost its lease, and changes nothing.
        await world.gateway.db.write(settle_delivery, lost, None, "late")
        assert {each["state"] for each in await log_of(owner, hook)} == {"delivered"}


async def test_d4_two_nodes_queue_each_event_once(settings: Settings, receiver: Receiver) -> None:
    async with serve_world(settings.model_copy(update={"workers": 0})) as world:
        [task] = [each for each in world.gateway._tasks if each.get_name() == "webhooks"]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        space = await world.owner.create_space("Alpha")
        hook = await created(world.owner, receiver, spaceId=space)
        db = world.gateway.db
        for n in range(4):
            await world.owner.say(space, f"m{n}")
            await asyncio.gather(*(db.write(fill_queue) for _ in range(4)))
        assert len(await log_of(world.owner, hook)) == 4
        claims = await asyncio.gather(*(db.write(claim_deliveries, [], 2) for _ in range(4)))
        assert sorted(row.id for claim in claims for row in claim) == sorted(
            each["id"] for each in await log_of(world.owner, hook)
        )


async def test_d4_only_admins_create_them_and_see_them(world: World, receiver: Receiver) -> None:
    """Admins of the gateway, too, only for spaces that they may read. Private hosts are for them alone."""
    sara, bob = await world.person("Sara"), await world.person("Bob")
    space = await sara.create_space("Sara's", bob)
    body = {"url": receiver.url, "events": ["*"], "spaceId": space}
    assert_error(await world.owner.post("/api/outgoing-webhooks", body), 404, "unknown_space")
    assert_error(await bob.post("/api/outgoing-webhooks", body), 403, "not_space_admin")
    assert_error(await sara.post("/api/outgoing-webhooks", {**body, "spaceId": None}), 403, "not_allowed")
    assert_error(await sara.post("/api/outgoing-webhooks", body), 403, "host_not_allowed")
    own = await created(world.owner, receiver)
    assert await sara.ok("GET", "/api/outgoing-webhooks") == []
    assert_error(await sara.delete(f"/api/outgoing-webhooks/{own['id']}"), 404, "unknown_webhook")
    assert_error(await sara.get(f"/api/outgoing-webhooks/{own['id']}/deliveries"), 404, "unknown_webhook")


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("ftp://example.com/x", 422, "bad_url"),
        ("http://user:pw@example.com/", 422, "bad_url"),
        ("http://127.0.0.1:1/", 403, "host_not_allowed"),
        ("http://169.254.169.254/latest", 403, "host_not_allowed"),
        ("http://2130706433/", 422, "bad_url"),
        ("", 422, "invalid_request"),
    ],
)
async def test_d4_they_point_only_where_tools_may(world: World, url: str, status: int, code: str) -> None:
    response = await world.owner.post("/api/outgoing-webhooks", {"url": url, "events": ["*"]})
    assert_error(response, status, code)
    wrong = await world.owner.post("/api/outgoing-webhooks", {"url": "http://x.example/", "events": ["space.unknown"]})
    assert_error(wrong, 422, "invalid_request")


async def test_d4_it_stops_when_its_creator_may_no_longer_read(settings: Settings, receiver: Receiver) -> None:
    public = settings.model_copy(update={"tool_hosts": [receiver.host]})
    async with serve_world(public) as world:
        admin = await world.person("Ann", role="admin")
        space = await world.owner.create_space("Alpha", admin)
        hook = await created(admin, receiver, spaceId=space)
        await world.owner.say(space, "one")
        await receiver.until_got(1)
        await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{admin.id}")
        await world.owner.say(space, "secret")

        async def stopped() -> bool:
            [listed] = await world.owner.ok("GET", "/api/outgoing-webhooks")
            return bool(listed["reason"] == "creator_left")

        await until(stopped)
        assert len(await log_of(world.owner, hook)) == 1
        assert [each.text for each in receiver.got] == ["one"]


async def test_d4_all_spaces_of_an_admin_also_new_ones(world: World, receiver: Receiver) -> None:
    old = await world.owner.create_space("Old")
    await created(world.owner, receiver)
    await world.owner.say(old, "old")
    new = await world.owner.create_space("New")
    await world.owner.say(new, "new")
    sara = await world.person("Sara")
    await sara.say(await sara.create_space("Hers"), "hers")
    got = await receiver.until_got(2)
    assert sorted(each.text for each in got) == ["new", "old"]


async def test_d4_l2_deleted_text_is_not_sent(world: World, receiver: Receiver) -> None:
    """The queue has no copy of it: what is sent later is the message as it is then."""
    space = await world.owner.create_space("Alpha")
    hook = await created(world.owner, receiver, spaceId=space)
    receiver.answer = lambda received: 500
    message = await world.owner.say(space, "the launch code is 8731-swordfish")
    await until_log(world.owner, hook, attempts=1, status=500)
    await world.owner.ok("DELETE", f"/api/messages/{message['id']}")

    async def erased() -> bool:
        await receiver.until_got(1)
        rows: list[Any] = await world.gateway.db.read(
            lambda tx: [row.data for row in tx.all(sa.text("SELECT data FROM events"))]
        )
        return not any("swordfish" in row for row in rows)

    await until(erased)
    receiver.got.clear()
    receiver.answer = lambda received: 200
    clock.advance(back_off(1))
    got = await receiver.until_got(2)
    assert [each.body for each in got if b"swordfish" in each.body] == []

    def stored(tx: Any) -> str:
        tables = outgoing_webhooks, webhook_cursors, webhook_deliveries
        return str([tuple(row) for each in tables for row in tx.all(sa.select(each))])

    text = await world.gateway.db.read(stored)
    assert "swordfish" not in text
    assert hook["secret"].removeprefix("whsec_") not in text


async def test_d4_events_that_wait_to_be_sent_are_kept(world: World, receiver: Receiver) -> None:
    space = await world.owner.create_space("Alpha")
    hook = await created(world.owner, receiver, spaceId=space)
    receiver.answer = lambda received: 500
    await world.owner.say(space, "one")
    await until_log(world.owner, hook, attempts=1, status=500)
    await world.gateway.db.write(delete_old_events, -1)
    receiver.answer = lambda received: 200
    clock.advance(back_off(1))
    entry = await until_log(world.owner, hook, state="delivered")
    await world.gateway.db.write(delete_old_events, -1)
    path = f"/api/outgoing-webhooks/{hook['id']}/deliveries/{entry['id']}/retry"
    assert_error(await world.owner.post(path), 409, "event_gone")
