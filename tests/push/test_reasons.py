"""A push has a reason when it is sent, and while a push service keeps it."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

import majlis.push.fill
from majlis import clock
from majlis.settings import Settings
from majlis.store.tables import pushes
from tests.asks.asking import give
from tests.conditions import until
from tests.model_server import call, sequence, silent
from tests.push.browser import Browser, admin, until_over
from tests.runs.house import open_house
from tests.webhooks.receiver import Receiver
from tests.world import World

ADVICE = {"name": "advise", "type": "static", "visible": True, "execution": {"output": {"advice": "sleep on it"}}}
APPROVE = {"name": "approve", "description": "Asks for approval.", "type": "space", "ui": "approval"}


async def test_a_card_is_pushed_but_not_the_calls_of_visible_tools(settings: Settings, service: Receiver) -> None:
    async with open_house(settings) as house:
        sara = await admin(house.world, "Sara")
        space = await house.space("Plans", sara, await house.agent("Scout", tools=[ADVICE, APPROVE]))
        await sara.ok("PATCH", "/api/me/preferences", {"notify": {space: "all"}})
        browser = Browser(service)
        await browser.subscribe(sara)
        house.model.script = sequence(call("advise"), call("approve", question="May I?"), silent())
        await house.owner.say(space, "Scout?")
        await browser.until_shown("Scout?", "May I?")
        await until_over(house.world)
        assert len(service.got) == 2


async def test_a_space_has_a_topic_of_its_own_in_each_browser(world: World, service: Receiver) -> None:
    """A newer push replaces the one that the push service still keeps."""
    sara = await admin(world, "Sara")
    plans, garden = await world.owner.create_space("Plans", sara), await world.owner.create_space("Garden", sara)
    phone, tablet = Browser(service), Browser(service, "tablet")
    await phone.subscribe(sara)
    await tablet.subscribe(sara)
    for space in (plans, plans, garden):
        await world.owner.say(space, "@Sara look")
    await until(lambda: len(service.got) == 6)
    topics = {
        (each.path, browser.open(each)["tag"]): each.headers["topic"]
        for browser in (phone, tablet)
        for each in service.got
        if each.path == f"/{browser.name}"
    }
    assert len(topics) == len(set(topics.values())) == 4
    assert len({each.headers["topic"] for each in service.got}) == 4
    for topic in topics.values():
        assert re.fullmatch("[A-Za-z0-9_-]{32}", topic)
        assert plans not in topic
        assert garden not in topic


async def test_the_reasons_are_checked_again_when_a_push_is_sent(
    world: World, service: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A push waits a moment, or until the person no longer looks at the app; all of this happens meanwhile."""
    people = [await admin(world, name) for name in ("Huda", "Rami", "Lina", "Omar", "Sara")]
    huda, rami, lina, omar, _ = people
    space = await world.owner.create_space("Plans", *people)
    browsers = {each.name: Browser(service, each.name) for each in people}
    for each in people:
        await browsers[each.name].subscribe(each)
    monkeypatch.setattr(majlis.push.fill, "WAIT_MILLIS", 3_600_000)
    ask = await world.owner.ok("POST", "/api/asks", {"spaceId": space, "kind": "approval", "question": "Ship it?"})
    await world.owner.say(space, "@Huda @Rami @Lina @Sara soon")
    waiting = sa.select(sa.func.count()).select_from(pushes).where(pushes.c.due_at.is_not(None))

    async def all_wait() -> bool:
        count = await world.gateway.db.read(lambda tx: tx.execute(waiting).scalar_one())
        return bool(count == len(people) + 4)

    await until(all_wait)
    hour = 3_600_000
    quiet = {"from": clock.iso(clock.now() - hour)[11:16], "to": clock.iso(clock.now() + hour)[11:16]}
    now = pushes.update().values(due_at=0)
    await huda.ok("PATCH", "/api/me/preferences", {"muted": [space]})
    await rami.ok("PATCH", "/api/me/preferences", {"notify": {space: "none"}})
    await lina.ok("PATCH", "/api/me/preferences", {"quiet": quiet, "timeZone": "UTC"})
    assert (await give(omar, ask, True)).is_success
    await world.gateway.db.write(lambda tx: tx.execute(now).rowcount)
    await until_over(world)
    assert browsers["Sara"].bodies() == ["@Huda @Rami @Lina @Sara soon"]
    assert len(service.got) == 1
