"""A push has a reason when it is sent, and while a push service keeps it."""

from __future__ import annotations

from majlis.settings import Settings
from tests.model_server import call, sequence, silent
from tests.push.browser import Browser, admin, until_over
from tests.runs.house import open_house
from tests.webhooks.receiver import Receiver

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
