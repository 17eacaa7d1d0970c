"""Approving one's own request (G5): a member asked for a deployment and approved it herself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis.settings import Settings
from tests.model_server import call, say, sequence
from tests.runs import deploy_tools
from tests.runs.cards import card_in, submit
from tests.runs.deploy_tools import HERE, deployed, tool
from tests.runs.house import House, open_house
from tests.world import Person


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    deployed.clear()
    deploy_tools.release.clear()
    async with open_house(settings.model_copy(update={"tool_modules": [HERE]})) as opened:
        yield opened


async def asked(house: House, *members: Person, space_policy: Any = None, **rule: Any) -> tuple[str, Any]:
    """Sara asks for a deployment, in a space with these members."""
    policy = [] if space_policy else [{"tools": "deploy*", "do": "ask", **rule}]
    bot = await house.agent("Bot", tools=[tool("deploy")], policy=policy)
    space = await house.space("Releases", bot, *members)
    if space_policy:
        await house.owner.ok("PATCH", f"/api/spaces/{space}", {"toolPolicy": space_policy})
    house.model.script = sequence(call("deploy", version="1.4"), say("Done."))
    await members[0].say(space, "Deploy 1.4")
    await house.until_waiting()
    return space, await card_in(house, space)


async def test_g5_the_person_who_asked_cannot_approve(house: House) -> None:
    sara, max_ = await house.person("Sara"), await house.person("Max")
    _, card = await asked(house, sara, max_)
    refused = await submit(sara, card, True)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "own_request")
    assert "Ask an admin of this gateway to decide." in refused.json()["error"]["message"]
    refused = await submit(max_, card, True)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_an_approver")
    assert deployed == []
    assert (await submit(house.owner, card, True)).status_code == 200
    await house.until_idle()
    assert len(deployed) == 1


async def test_g5_a_rule_names_the_approvers(house: House) -> None:
    sara, max_ = await house.person("Sara"), await house.person("Max")
    _, card = await asked(house, sara, max_, approvers=[max_.id])
    assert (await submit(sara, card, True)).status_code == 403
    assert (await submit(max_, card, True)).status_code == 200


async def test_g5_a_rule_may_let_the_requester_approve(house: House) -> None:
    sara = await house.person("Sara")
    _, card = await asked(house, sara, requesterMayApprove=True)
    assert (await submit(sara, card, True)).status_code == 200


async def test_g5_a_rule_of_a_space_is_for_the_admins_of_the_space(house: House) -> None:
    sara, max_ = await house.person("Sara"), await house.person("Max")
    space, card = await asked(house, sara, max_, space_policy=[{"tools": "deploy", "do": "ask"}])
    assert (await submit(max_, card, True)).status_code == 403
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"toolPolicy": [{"tools": "deploy", "do": "ask"}]})
    assert (await submit(house.owner, card, True)).status_code == 200


async def test_g5_without_an_approver_in_the_space_the_gateways_admins_decide(house: House) -> None:
    """They see the call and not the space."""
    sara, ada = await house.person("Sara"), await house.world.person("Ada", role="admin")
    bot = await house.agent("Bot", tools=[tool("deploy")], policy=[{"tools": "deploy*", "do": "ask"}])
    space = await house.space("Releases", bot, sara)
    await house.leave_to(space, sara)
    house.model.script = sequence(call("deploy", version="1.4"), say("Done."))
    await sara.say(space, "Deploy 1.4")
    await house.until_waiting()
    [mine] = await sara.ok("GET", "/api/tool-calls")
    card = {"tool": {"callId": mine["toolCallId"]}, "runId": mine["runId"]}
    assert (await submit(sara, card, True)).json()["error"]["code"] == "own_request"
    [pending] = await ada.ok("GET", "/api/tool-calls")
    assert (pending["name"], pending["input"]) == ("deploy", {"version": "1.4"})
    assert (await ada.get(f"/api/spaces/{space}/messages")).status_code == 404
    assert (await submit(ada, card, True)).status_code == 200
    await house.until_idle()
    assert len(deployed) == 1


async def waits(person: Person, **params: Any) -> list[Any]:
    found: list[Any] = (await person.ok("GET", "/api/waits", **params))["waits"]
    return found


async def test_w10_g5_a_wait_is_for_those_who_may_approve(house: House) -> None:
    sara, max_, ali = [await house.person(name) for name in ("Sara", "Max", "Ali")]
    space, card = await asked(house, sara, max_, ali, approvers=[max_.id])
    for person in (sara, max_, ali):
        [wait] = await waits(person)
        assert (wait["kind"], wait["spaceId"], wait["messageId"]) == ("card", space, card["id"])
    assert await waits(sara, **{"for": "me"}) == []
    assert await waits(ali, **{"for": "me"}) == []
    assert await waits(max_, **{"for": "me"}) == await waits(max_)


async def test_w10_g5_the_gateways_admins_see_what_was_given_to_them(house: House) -> None:
    sara, ada = await house.person("Sara"), await house.world.person("Ada", role="admin")
    bot = await house.agent("Bot", tools=[tool("deploy")], policy=[{"tools": "deploy*", "do": "ask"}])
    space = await house.space("Releases", bot, sara)
    await house.leave_to(space, sara)
    house.model.script = sequence(call("deploy", version="1.4"), say("Done."))
    await sara.say(space, "Deploy 1.4")
    await house.until_waiting()
    assert await waits(sara, **{"for": "me"}) == []
    [wait] = await waits(ada, **{"for": "me"})
    assert (wait["kind"], wait["agentId"], wait["question"]) == ("card", bot.id, "deploy")
    assert await waits(ada) == [wait]


@pytest.mark.parametrize(
    "rule",
    [
        {"tools": "x", "do": "allow", "approvers": ["admins"]},
        {"tools": "x", "do": "deny", "requesterMayApprove": True},
        {"tools": "x", "do": "ask", "approvers": []},
        {"tools": "x", "do": "ask", "approvers": ["everybody"]},
    ],
)
async def test_g5_a_rule_that_makes_no_sense_is_refused(house: House, rule: Any) -> None:
    refused = await house.owner.post("/api/agents", {"name": "Bot", "config": {"policy": [rule]}})
    assert refused.status_code == 422
