"""J4, J5: policies. A call is allowed, denied, or made once after a person's approval."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis.agents.config.policy import stricter, verdict
from majlis.settings import Settings
from tests.model_server import Asked, ModelServer, Reply, call, say, sequence, silent
from tests.runs import deploy_tools
from tests.runs.cards import card_in, submit
from tests.runs.cycles import conscious, each_cycle, inbox, step
from tests.runs.deploy_tools import HERE, deployed, tool
from tests.runs.house import House, open_house, timeline
from tests.world import Person, serve_world

ASK = [{"tools": "deploy*", "do": "ask"}]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"tool_modules": [HERE]})


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_deployed() -> None:
    deployed.clear()
    deploy_tools.release.clear()


async def asking(house: House, *replies: Reply, **config: Any) -> tuple[Person, str, Any]:
    """A bot that wants to deploy 1.4 and waits for permission: bot, space, card."""
    bot = await house.agent("Bot", **{"tools": [tool("deploy")], "policy": ASK, **config})
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("deploy", version="1.4"), *replies)
    await house.owner.say(space, "Deploy 1.4")
    await house.until_waiting()
    return bot, space, await card_in(house, space)


def test_the_first_rule_that_fits_decides_and_between_agent_and_space_the_stricter() -> None:
    rules = [{"tools": "deploy_test", "do": "allow"}, {"tools": "Deploy*", "do": "ask"}, {"tools": "?b", "do": "deny"}]
    names = ("deploy_test", "deploy", "DEPLOY_live", "db", "other")
    assert [verdict(rules, name) for name in names] == ["allow", "ask", "ask", "deny", "allow"]
    assert stricter("ask", "allow") == stricter("allow", "ask") == "ask"
    assert stricter("ask", "deny") == "deny"


async def test_j4_ask_pauses_with_an_approval_card_and_the_approved_call_is_made_once(house: House) -> None:
    bot, space, card = await asking(house, say("1.4 is live."))
    tool = card["tool"]
    assert (tool["name"], tool["ui"], tool["purpose"], tool["input"]) == (
        "deploy",
        "approval",
        "permission",
        {"version": "1.4"},
    )
    assert (await house.run(card["runId"]))["status"] == "waiting_tool"
    assert deployed == []
    assert (await submit(house.owner, card, {"approved": True, "comment": "Go"})).status_code == 200
    await house.until_idle()
    [(version, key)] = deployed
    steps = await house.owner.ok("GET", f"/api/runs/{card['runId']}/steps")
    [step] = [step for step in steps if step.get("name") == "deploy"]
    assert (version, key) == ("1.4", f"{card['runId']}:{step['n']}")
    assert (step["state"], step["output"]) == ("done", {"deployed": "1.4", "with": ""})
    assert (await house.texts(space))[-1] == ("Bot", "1.4 is live.")
    resumed = house.invocations("Bot")[-1]
    assert {message["role"] for message in resumed.messages} == {"system", "user"}
    assert 'You: called deploy({"version":"1.4"}) → {"deployed":"1.4","with":""}' in timeline(resumed)
    assert timeline(resumed)[-1] == "← RESUME: Owner approved deploy, and it was called. Continue from here."
    [shown] = [line for line in timeline(resumed) if "asked for permission" in line]
    asked = 'Bot: asked for permission to use tool deploy {"version":"1.4"} → '
    assert shown == asked + 'Owner: {"approved":true,"comment":"Go"}  [SEEN]'
    assert [run["status"] for run in await house.runs(bot)] == ["completed"]


async def test_j4_a_refused_call_is_an_error_with_the_persons_words_and_never_made(house: House) -> None:
    _, space, card = await asking(house, say("As you wish."))
    await submit(house.owner, card, {"approved": False, "comment": "Not on Friday"})
    await house.until_idle()
    assert deployed == []
    lines = timeline(house.invocations("Bot")[-1])
    assert lines[-1] == "← RESUME: Owner did not approve deploy. Continue from here."
    [line] = [line for line in lines if line.startswith("You: called deploy")]
    assert 'error: {"success":false,"status":"refused","error":"deploy was not called: Owner did not approve it' in line
    assert "Not on Friday" in line
    assert (await house.texts(space))[-1] == ("Bot", "As you wish.")


async def test_j4_an_approval_times_out(house: House) -> None:
    _, _, card = await asking(house, silent())
    house.advance(601)
    await house.model.until_asked(2)
    await house.until_idle()
    assert deployed == []
    assert "it was not approved within 600 s" in house.invocations("Bot")[-1].text
    assert (await submit(house.owner, card, True)).status_code == 409


async def test_j4_only_a_person_permits_a_call(house: House) -> None:
    """Not the agent itself, another agent, or a service."""
    bot, space, card = await asking(house)
    other = await house.world.agent("Other")
    robot = await house.world.person("Robot", type="service")
    for member in (other, robot):
        await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": member.id})
    answers = [await submit(each, card, True) for each in (bot, other, robot)]
    assert [(a.status_code, a.json()["error"]["code"]) for a in answers] == [
        (403, "own_question"), (403, "people_only"), (403, "people_only"),
    ]  # fmt: skip
    assert deployed == []


async def test_j4_the_policy_of_a_space_holds_there_and_only_there(house: House) -> None:
    bot = await house.agent("Bot", tools=[tool("deploy")])
    strict, free = await house.space("Strict", bot), await house.space("Free", bot)
    denied = [{"tools": "deploy", "do": "deny"}]
    changed = await house.owner.ok("PATCH", f"/api/spaces/{strict}", {"toolPolicy": denied})
    assert changed["toolPolicy"] == (await house.owner.space(strict))["toolPolicy"] == denied

    def model(asked: Asked) -> Reply:
        return call("deploy", version="1.4") if asked.step == 0 else silent()

    house.model.script = model
    await house.owner.say(strict, "go")
    await house.until_idle()
    [result] = house.asked("Bot")[-1].results
    assert "is not allowed in the active space" in result["error"]
    assert deployed == []
    await house.owner.say(free, "go")
    await house.until_idle()
    assert len(deployed) == 1
    # The stricter of the two applies, and a change applies from the next call on.
    await house.owner.ok("PATCH", f"/api/spaces/{strict}", {"toolPolicy": ASK})
    await house.owner.say(strict, "go")
    await house.until_waiting()
    assert len(deployed) == 1
    await house.owner.ok("PATCH", f"/api/spaces/{strict}", {"toolPolicy": denied})
    await submit(house.owner, await card_in(house, strict), True)
    await house.until_idle()
    # Denied in the meantime: the approved call is not made.
    assert len(deployed) == 1
    await house.owner.ok("PATCH", f"/api/spaces/{strict}", {"toolPolicy": None})
    assert (await house.owner.space(strict))["toolPolicy"] == []


async def test_j4_a_policy_of_a_space_is_refused_with_the_path_of_the_offender(house: House) -> None:
    space = await house.space("Strict")
    for rules, path in (
        ([{"tools": "deploy now", "do": "ask"}], "toolPolicy.0.tools"),
        ([{"tools": "a", "do": "ask"}, {"tools": "b", "do": "maybe"}], "toolPolicy.1.do"),
    ):
        response = await house.owner.patch(f"/api/spaces/{space}", {"toolPolicy": rules})
        assert response.status_code == 422
        assert path in response.text


async def test_j4_a_denied_tool_is_not_offered_and_a_call_of_it_is_an_error(house: House) -> None:
    policy = [{"tools": "dep*", "do": "deny"}]
    bot = await house.agent("Bot", tools=[tool("deploy"), tool("hold")], policy=policy)
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("deploy", version="1.4"))
    await house.owner.say(space, "go")
    await house.until_idle()
    first, last = house.asked("Bot")
    assert "deploy" not in first.tool_names
    assert "hold" in first.tool_names
    assert "your policy denies it" in last.results[0]["error"]
    assert deployed == []


async def test_j4_permission_needs_a_space_to_ask_in(house: House) -> None:
    bot = await house.agent("Bot", tools=[tool("deploy")], policy=ASK)
    house.model.script = sequence(call("deploy", version="1.4"))
    await house.tell(bot)
    await house.until_idle()
    assert "Call enter_space" in house.asked("Bot")[-1].results[0]["error"]
    assert deployed == []


async def test_j2_an_approval_without_a_running_worker_is_used_after_the_restart(settings: Settings) -> None:
    async with ModelServer() as model:
        async with serve_world(settings) as world:
            _, space, card = await asking(House(world, model), say("1.4 is live."))
        async with serve_world(settings.model_copy(update={"workers": 0})) as world:
            assert (await submit(world.owner, card, True)).status_code == 200
        assert deployed == []
        async with serve_world(settings) as world:
            house = House(world, model)
            await house.until_idle()
            assert [version for version, _ in deployed] == ["1.4"]
            assert (await house.texts(space))[-1] == ("Bot", "1.4 is live.")


async def test_j4_a_visible_call_is_shown_beside_its_card_once_it_is_made(house: House) -> None:
    _, space, card = await asking(house, tools=[tool("deploy", visible=True)])
    await submit(house.owner, card, True)
    await house.until_idle()
    tools = [each["tool"] for each in (await house.owner.history(space))["messages"] if each["kind"] == "tool"]
    assert [(each["ui"], each["status"], each["output"]) for each in tools] == [
        ("approval", "complete", {"approved": True}),
        (None, "complete", {"deployed": "1.4", "with": ""}),
    ]


async def test_j4_k1_a_consciousness_gets_the_approval_as_an_event_and_makes_the_same_call_once(house: House) -> None:
    scout = await conscious(house, tools=[tool("deploy")], policy=ASK)
    space = await house.space("Releases", scout)
    house.model.script = each_cycle(call("enter_space", spaceId=space), call("deploy", version="1.4"))
    await house.owner.say(space, "Deploy 1.4")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(scout)] == ["completed"]
    card = await card_in(house, space)

    def again(asked: Asked) -> Reply:
        """Another version was never permitted; this one was, once."""
        versions = ["1.5", "1.4", "1.4"]
        return call("deploy", version=versions[step(asked)]) if step(asked) < 3 else silent()

    house.model.script = again
    assert (await submit(house.owner, card, True)).status_code == 200
    await house.until_idle()
    assert "Call deploy again with exactly the same input" in inbox(house.asked("Scout")[-1])[0]
    assert [version for version, _ in deployed] == ["1.4"]
    open_now = await house.owner.ok("GET", "/api/tool-calls")
    assert [each["input"]["version"] for each in open_now] == ["1.5", "1.4"]
