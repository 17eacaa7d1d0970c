"""Push notifications reach subscribed browsers once, encrypted, and only if the person wants and needs them."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric import ec

import majlis.push.fill
import majlis.push.send
from majlis import clock
from majlis.entities.preferences import QuietHours
from majlis.gateway import open_gateway
from majlis.push.encrypt import encrypt
from majlis.push.fill import fill_queue
from majlis.push.keys import push_key
from majlis.push.send import PushSender
from majlis.push.subscriptions import MAX_BROWSERS
from majlis.push.wanted import is_quiet
from majlis.secret_store import Cipher
from majlis.settings import Settings
from majlis.store.tables import gateway, push_subscriptions, pushes
from tests.api.test_bad_input import assert_error
from tests.conditions import until
from tests.push.browser import PATH, Browser, admin, claims, text, until_over
from tests.webhooks.receiver import Receiver
from tests.world import World


async def subscribed(world: World) -> int:
    count = sa.select(sa.func.count()).select_from(push_subscriptions)
    return int(await world.gateway.db.read(lambda tx: tx.execute(count).scalar_one()))


async def test_a_mention_is_pushed_once_to_each_browser_encrypted_and_signed(world: World, service: Receiver) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    await world.owner.say(space, "@Sara before the subscription")
    phone, tablet = Browser(service), Browser(service, "tablet")
    await phone.subscribe(sara)
    await tablet.subscribe(sara)
    known = await sara.ok("GET", PATH)
    assert known["browsers"] == 2
    await world.owner.say(space, "for nobody")
    message = await world.owner.say(space, "@Sara the **deadline**\nis Friday")
    await world.owner.ok("PATCH", f"/api/messages/{message['id']}", {"text": "@Sara the deadline is Monday"})
    for browser in (phone, tablet):
        await until(browser.bodies)
    await sara.say(space, "@Sara my own")
    last = await world.owner.say(space, "@Sara " + "long " * 500)
    await until(lambda: len(phone.bodies()) > 1 and len(tablet.bodies()) > 1)
    await until_over(world)
    for browser in (phone, tablet):
        first, second = sorted(browser.shown(), key=lambda shown: shown["path"])
        assert first["path"] == f"/spaces/{space}/messages/{message['id']}"
        assert (first["title"], first["tag"]) == ("Owner · Plans", space)
        assert first["body"] in ("@Sara the **deadline** is Friday", "@Sara the deadline is Monday")
        assert second["path"].endswith(last["id"])
        assert len(second["body"]) == 200
    assert len(service.got) == 4
    for received in service.got:
        assert b"deadline" not in received.body
        told = claims(received, known["publicKey"])
        assert (told["aud"], told["sub"]) == (f"http://{service.host}", world.base_url)
        assert 0 < told["exp"] - clock.now() // 1000 <= 24 * 3600
        # Ten minutes, as in the queue.
        assert received.headers["ttl"] == "600"


async def test_levels_mute_and_quiet_hours_are_obeyed(world: World, service: Receiver) -> None:
    sara = await admin(world, "Sara")
    names = ("all", "mentions", "decisions", "none", "muted")
    spaces = {name: await world.owner.create_space(name, sara) for name in names}
    direct = (await world.owner.ok("POST", "/api/direct", {"entityId": sara.id}))["id"]
    chosen: dict[str, Any] = {"notify": {spaces[name]: name for name in names[:4]}, "muted": [spaces["muted"]]}
    await sara.ok("PATCH", "/api/me/preferences", chosen)
    browser = Browser(service)
    await browser.subscribe(sara, timeZone="Asia/Baghdad")
    for name in names:
        await world.owner.say(spaces[name], f"plain {name}")
        await world.owner.say(spaces[name], f"@Sara {name}")
    ask = {"spaceId": spaces["decisions"], "kind": "approval", "question": "Ship it?"}
    await world.owner.ok("POST", "/api/asks", ask)
    await world.owner.say(direct, "just you")
    await browser.until_shown("plain all", "@Sara all", "@Sara mentions", "Ship it?", "just you")
    assert next(each["title"] for each in browser.shown() if each["body"] == "just you") == "Owner"
    await until_over(world)
    whole_day = {"quiet": {"from": "00:00", "to": "23:59"}, "timeZone": "UTC"}
    noon = 12 * 3_600_000
    clock.advance((noon - clock.now()) % (24 * 3_600_000))
    await sara.ok("PATCH", "/api/me/preferences", whole_day)
    await world.owner.say(direct, "in the night")
    await world.gateway.db.write(fill_queue)
    await sara.ok("PATCH", "/api/me/preferences", {"quiet": None})
    await world.owner.say(direct, "in the morning")
    await until(lambda: "in the morning" in browser.bodies())
    assert "in the night" not in browser.bodies()


def test_quiet_hours_are_in_the_time_zone_and_may_span_midnight() -> None:
    night = QuietHours.model_validate({"from": "22:00", "to": "07:00"})
    ten_in_the_evening = 1_771_430_400_000 + 3_600_000 * 6  # 22:00 in UTC
    assert is_quiet(night, ten_in_the_evening, "UTC")
    assert not is_quiet(night, ten_in_the_evening - 1000, "UTC")
    assert is_quiet(night, ten_in_the_evening - 1000, "Asia/Baghdad")
    assert not is_quiet(night, ten_in_the_evening, "America/New_York")
    assert not is_quiet(None, ten_in_the_evening, "UTC")


async def test_nothing_is_pushed_to_a_person_who_looks_has_read_it_left_or_signed_out(
    world: World, service: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A push waits a moment; all of this happens meanwhile."""
    people = [await admin(world, name) for name in ("Huda", "Rami", "Lina", "Omar", "Sara")]
    huda, rami, lina, omar, _ = people
    space = await world.owner.create_space("Plans", *people)
    browsers = {each.name: Browser(service, each.name) for each in people}
    for each in people:
        await browsers[each.name].subscribe(each)
    monkeypatch.setattr(majlis.push.fill, "WAIT_MILLIS", 3_600_000)
    message = await world.owner.say(space, "@Huda @Rami @Lina @Omar @Sara soon")
    waiting = sa.select(sa.func.count()).select_from(pushes).where(pushes.c.due_at.is_not(None))

    async def all_wait() -> bool:
        return bool(await world.gateway.db.read(lambda tx: tx.execute(waiting).scalar_one()) == len(people))

    await until(all_wait)
    await huda.ok("PUT", "/api/me/active", {"active": True})
    await rami.ok("POST", f"/api/spaces/{space}/read", {"lastMessageId": message["id"]})
    await lina.ok("DELETE", f"/api/spaces/{space}/members/{lina.id}")
    await omar.ok("DELETE", f"/api/entities/{omar.id}/access")
    now = pushes.update().values(due_at=0)
    await world.gateway.db.write(lambda tx: tx.execute(now).rowcount)
    await browsers["Sara"].until_shown("@Huda @Rami @Lina @Omar @Sara soon")

    async def one_waits() -> bool:
        return bool(await world.gateway.db.read(lambda tx: tx.execute(waiting).scalar_one()) == 1)

    await until(one_waits)
    # Huda still looks. Her push waits until she looks away.
    assert len(service.got) == 1
    await huda.ok("PUT", "/api/me/active", {"active": False})
    await world.gateway.db.write(lambda tx: tx.execute(now.where(pushes.c.due_at.is_not(None))).rowcount)
    await browsers["Huda"].until_shown("@Huda @Rami @Lina @Omar @Sara soon")
    assert len(service.got) == 2
    # Omar's browser is not subscribed any more, from the next clean-up.
    clock.advance(60_000)
    await world.owner.say(space, "for nobody")

    async def one_is_gone() -> bool:
        return await subscribed(world) == len(people) - 1

    await until(one_is_gone)


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_only_one_of_several_nodes_sends(world: World, service: Receiver) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    browser = Browser(service)
    await browser.subscribe(sara)
    db = world.gateway.db
    cipher = Cipher(world.gateway.hasher.secret_key)
    nodes = [PushSender(db, cipher, [service.host]) for _ in range(4)]
    said = [f"@Sara {n}" for n in range(12)]
    for text_ in said:
        await world.owner.say(space, text_)
        await asyncio.gather(*(node.send_due() for node in nodes))
    await browser.until_shown(*said)
    await until_over(world)
    assert len(service.got) == len(said)


async def test_a_subscription_that_is_gone_is_removed_and_other_failures_are_tried_again(
    world: World, service: Receiver
) -> None:
    sara = await admin(world, "Sara")
    space = await world.owner.create_space("Plans", sara)
    gone, busy = Browser(service, "gone"), Browser(service, "busy")
    await gone.subscribe(sara)
    await busy.subscribe(sara)
    service.answer = lambda received: 410 if received.path == "/gone" else 503
    await world.owner.say(space, "@Sara look")

    async def one_is_left() -> bool:
        return await subscribed(world) == 1

    await until(one_is_left)
    await until(busy.bodies)
    service.answer = lambda received: 201
    for _ in range(3):
        clock.advance(120_000)
    await until(lambda: len(busy.bodies()) == 2)
    await until_over(world)
    assert (await sara.ok("GET", PATH))["browsers"] == 1


async def test_only_https_endpoints_at_public_hosts_and_valid_keys_are_accepted(
    world: World, service: Receiver
) -> None:
    omar, ada = await world.person("Omar"), await world.agent("Ada", model="demo")
    browser = Browser(service)
    keys = {"p256dh": text(browser.point), "auth": text(browser.auth)}
    for endpoint in (
        browser.endpoint,
        "http://8.8.8.8/push",
        "https://127.0.0.1/push",
        "https://169.254.169.254/latest",
        "https://[::1]/push",
        "https://10.0.0.8:8443/push",
        "ftp://8.8.8.8/push",
        "https://user@8.8.8.8/push",
        "https://nowhere.invalid/push",
    ):
        assert_error(await omar.http.put(PATH, json={"endpoint": endpoint, "keys": keys}), 422, "invalid_request")
    for wrong in ({"p256dh": text(b"\4" + b"x" * 64)}, {"auth": text(b"short")}, {"p256dh": "AAAA"}):
        body = {"endpoint": "https://8.8.8.8/push", "keys": {**keys, **wrong}}
        assert_error(await omar.http.put(PATH, json=body), 422, "invalid_request")
    valid = {"endpoint": "https://8.8.8.8/push", "keys": keys}
    assert_error(await omar.http.put(PATH, json={**valid, "timeZone": "Mars"}), 422, "invalid_request")
    assert_error(await ada.http.put(PATH, json=valid), 403, "not_allowed")
    assert await subscribed(world) == 0
    assert (await omar.http.put(PATH, json=valid)).status_code == 204


async def test_a_subscription_needs_the_scope_read_because_pushes_contain_messages(
    world: World, service: Receiver
) -> None:
    browser = Browser(service)
    keys = {"p256dh": text(browser.point), "auth": text(browser.auth)}
    body = {"endpoint": "https://8.8.8.8/push", "keys": keys}
    for scopes, status in ((["write"], 403), (["admin", "write", "approve"], 403), (["read", "write"], 204)):
        limited = await world.with_token(world.owner.id, "Owner", scopes=scopes)
        answer = await limited.http.put(PATH, json=body)
        assert answer.status_code == status
        if status == 403:
            assert_error(answer, 403, "missing_scope")


async def test_a_person_has_a_few_browsers_and_a_browser_one_person(world: World, service: Receiver) -> None:
    sara, omar = await admin(world, "Sara"), await admin(world, "Omar")
    browsers = [Browser(service, f"b{n}") for n in range(MAX_BROWSERS + 2)]
    for browser in browsers:
        await browser.subscribe(sara)
        await browser.subscribe(sara)
    assert (await sara.ok("GET", PATH))["browsers"] == MAX_BROWSERS
    await browsers[-1].subscribe(omar)
    assert (await sara.ok("GET", PATH))["browsers"] == MAX_BROWSERS - 1
    # Only one's own.
    for who, left in ((sara, 1), (omar, 0)):
        await who.ok("POST", f"{PATH}/unsubscribe", {"endpoint": browsers[-1].endpoint})
        assert (await omar.ok("GET", PATH))["browsers"] == left


async def test_the_key_is_made_once_and_stored_encrypted(world: World, settings: Settings) -> None:
    public = (await world.owner.ok("GET", PATH))["publicKey"]
    rows = await world.gateway.db.read(lambda tx: tx.all(sa.select(gateway)))
    assert not any("PRIVATE KEY" in row.value for row in rows)
    again = await open_gateway(settings)
    try:
        assert await again.pushes.public_key() == public
        pem = await again.db.write(push_key, Cipher(again.hasher.secret_key))
        assert "PRIVATE KEY" in pem
    finally:
        await again.db.close()


def test_the_example_of_rfc_8291_is_encrypted_as_it_says() -> None:
    def raw(value: str) -> bytes:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))

    secret = int.from_bytes(raw("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    theirs = raw("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    made = encrypt(
        b"When I grow up, I want to be a watermelon",
        theirs,
        raw("BTBZMqHH6r4Tts7J_aSIgg"),
        ec.derive_private_key(secret, ec.SECP256R1()),
        raw("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert made == raw(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
        "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
