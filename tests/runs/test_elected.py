"""E12: in an elected space a message without a mention goes to the agent that its sender last talked with."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.conditions import until
from tests.model_server import Asked, Part, Reply, by_agent, say, silent
from tests.runs.cycles import conscious
from tests.runs.house import House, says
from tests.world import Person

pytestmark = pytest.mark.usefixtures("standing_clock")

NAMES = ("Architect", "Guard", "Ops")


async def elected_space(house: House, **config: Any) -> tuple[str, dict[str, Person]]:
    # All answer at once, so the guard would hold all but one.
    agents = {name: await house.agent(name, guard=False, **config) for name in NAMES}
    return await house.space("Project Alpha", *agents.values(), triggers="elected"), agents


async def talk_with(house: House, person: Person, space: str, name: str) -> None:
    """The person mentions the agent, which answers."""
    house.model.script = says(f"{name} here.")
    await person.say(space, f"@{name} are you there?")
    await house.until_idle()
    house.model.script = says("Yes.")


def answers(parts: Mapping[str, Part]) -> Any:
    """Agents without a part stay silent."""
    return by_agent({name: silent() for name in NAMES} | dict(parts))


async def states(house: House, message: Any) -> dict[str, tuple[str, str | None]]:
    listed = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    return {each["agentName"]: (each["state"], each["reason"]) for each in listed}


async def run_names(house: House, message: Any) -> list[str]:
    return sorted(run["agentName"] for run in await house.runs() if run["trigger"]["messageId"] == message["id"])


async def test_e12_a_message_goes_to_the_agent_that_the_person_last_mentioned(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Architect")
    await talk_with(house, house.owner, space, "Guard")
    message = await house.owner.say(space, "and now?")
    await house.until_idle()
    passed = ("passed", "Guard answered")
    assert await states(house, message) == {"Guard": ("done", None), "Architect": passed, "Ops": passed}
    house.advance(60)
    await house.until_idle()
    assert await run_names(house, message) == ["Guard"]


async def test_e12_without_an_earlier_conversation_it_goes_to_all_agents(house: House) -> None:
    space, _ = await elected_space(house)
    message = await house.owner.say(space, "hello")
    await house.until_idle()
    assert await run_names(house, message) == sorted(NAMES)


async def test_e12_two_people_talk_with_two_agents_in_one_space(house: House) -> None:
    space, _ = await elected_space(house)
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    await talk_with(house, house.owner, space, "Architect")
    await talk_with(house, sara, space, "Guard")
    mine = await house.owner.say(space, "go on")
    hers = await sara.say(space, "go on")
    await house.until_idle()
    assert (await run_names(house, mine), await run_names(house, hers)) == (["Architect"], ["Guard"])


async def test_e12_a_person_who_mentioned_none_gets_the_agent_that_last_answered_them(house: House) -> None:
    space, _ = await elected_space(house)
    house.model.script = answers({"Ops": [say("Me.")]})
    await house.owner.say(space, "who is there?")
    await house.until_idle()
    house.model.script = says("Yes.")
    message = await house.owner.say(space, "and now?")
    await house.until_idle()
    assert await run_names(house, message) == ["Ops"]


async def test_e12_a_reply_goes_to_the_agent_at_the_end_of_its_chain(house: House) -> None:
    space, _ = await elected_space(house)
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    await talk_with(house, house.owner, space, "Guard")
    said = (await house.owner.history(space))["messages"][-1]
    assert said["sender"]["name"] == "Guard"
    await talk_with(house, house.owner, space, "Architect")
    direct = await house.owner.say(space, "what was that?", replyTo=said["id"])
    await house.until_idle()
    through = await sara.say(space, "I also wonder", replyTo=direct["id"])
    await house.until_idle()
    later = await house.owner.say(space, "thanks")
    await house.until_idle()
    for message in (direct, through, later):
        assert await run_names(house, message) == ["Guard"]


async def test_e12_a_mention_goes_to_the_mentioned_agents_only(house: House) -> None:
    space, agents = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    house.model.script = answers({})
    message = await house.owner.say(space, "@Ops and you?")
    listed = await house.owner.say(space, "you two", mentions=[agents["Ops"].id, agents["Architect"].id])
    house.advance(60)
    await house.until_idle()
    assert await states(house, message) == {"Ops": ("passed", None)}
    assert await run_names(house, listed) == ["Architect", "Ops"]


async def test_e12_if_the_agent_passes_all_others_get_the_message(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    house.model.script = answers({"Ops": [say("I can help.")]})
    message = await house.owner.say(space, "who can help?")
    await house.until_idle()
    assert await states(house, message) == dict.fromkeys(("Guard", "Architect"), ("passed", None)) | {
        "Ops": ("done", None)
    }
    assert await run_names(house, message) == sorted(NAMES)


@pytest.mark.parametrize("mind", ["timeline", "consciousness"])
async def test_e12_if_the_agent_fails_for_good_all_others_get_the_message(house: House, mind: str) -> None:
    space, _ = await elected_space(house)
    guard = await conscious(house, "Watch") if mind == "consciousness" else await house.agent("Watch")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": guard.id})
    house.model.script = answers({"Watch": silent()})
    await house.owner.say(space, "@Watch hello")
    await house.until_idle()
    house.try_models_once()
    house.model.script = by_agent({name: [say("Yes.")] for name in NAMES} | {"Watch": lambda _: Reply(status=500)})
    message = await house.owner.say(space, "still there?")
    # Between its tries the others wait, even when their 10 s are over.
    for seconds in (1, 4):
        await until(lambda: _has_failed(house, guard, message))
        assert {name: state for name, (state, _) in (await states(house, message)).items()} == {
            "Watch": "pending"
        } | dict.fromkeys(NAMES, "pending")
        house.advance(seconds)
        await house.model.until_asked(len(house.model.asked) + 1)
    await house.until_idle()
    found = {name: state for name, (state, _) in (await states(house, message)).items()}
    assert found == {"Watch": "failed"} | dict.fromkeys(NAMES, "done")


async def _has_failed(house: House, agent: Person, message: Any) -> bool:
    listed = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    return any(each["agentId"] == agent.id and each["nextAttemptAt"] is not None for each in listed)


@pytest.mark.parametrize("why", ["paused", "full"])
async def test_e12_if_the_agent_has_not_begun_within_10_s_all_others_get_the_message(house: House, why: str) -> None:
    space, agents = await elected_space(house, limits={"concurrentRuns": 1})
    await talk_with(house, house.owner, space, "Guard")
    held = asyncio.Event()
    if why == "paused":
        await house.owner.ok("POST", f"/api/agents/{agents['Guard'].id}/pause")
    else:
        slow = say("Done.")
        slow.gate = held
        house.model.script = lambda asked: slow if asked.agent == "Guard" else says("Yes.")(asked)
        await house.owner.say(space, "@Guard a long task")
        await house.model.until_asked(len(house.model.asked) + 1)
    message = await house.owner.say(space, "still there?")
    house.advance(9.9)
    assert await states(house, message) == {
        "Guard": ("pending", None),
        "Architect": ("pending", "Guard is asked first"),
        "Ops": ("pending", "Guard is asked first"),
    }
    house.advance(0.1)
    await until(lambda: _have_answered(house, message))
    assert (await states(house, message))["Guard"] == ("pending", None)
    if why == "paused":
        await house.owner.ok("DELETE", f"/api/agents/{agents['Guard'].id}/pause")
    held.set()
    await house.until_idle()
    assert await run_names(house, message) == sorted(NAMES)


async def _have_answered(house: House, message: Any) -> bool:
    found = await states(house, message)
    return [found[name][0] for name in ("Architect", "Ops")] == ["done", "done"]


async def test_e12_while_the_agent_works_the_others_wait(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    slow = say("Done.")
    slow.gate = asyncio.Event()
    house.model.script = lambda asked: slow if asked.step == 0 else silent()
    message = await house.owner.say(space, "a long task")
    await house.model.until_asked(len(house.model.asked) + 1)
    for _ in range(3):
        house.advance(15)
        # The worker takes a new message, so it has looked at the others too.
        other = await house.owner.say(space, "@Ops and you?")
        await house.model.until_asked(len(house.model.asked) + 1)
        assert await run_names(house, message) == ["Guard"]
        assert await run_names(house, other) == ["Ops"]
    slow.gate.set()
    await house.until_idle()
    passed = ("passed", "Guard answered")
    assert await states(house, message) == {"Guard": ("done", None), "Architect": passed, "Ops": passed}


async def test_e12_an_agent_that_left_the_space_is_not_elected(house: House) -> None:
    space, agents = await elected_space(house)
    await talk_with(house, house.owner, space, "Ops")
    await talk_with(house, house.owner, space, "Guard")
    await house.remove(space, agents["Guard"])
    message = await house.owner.say(space, "still there?")
    await house.until_idle()
    assert await run_names(house, message) == ["Ops"]


async def test_e12_if_the_agent_leaves_before_it_begins_the_others_get_the_message(house: House) -> None:
    space, agents = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    await house.owner.ok("POST", f"/api/spaces/{space}/pause")
    message = await house.owner.say(space, "still there?")
    await house.remove(space, agents["Guard"])
    await house.owner.ok("DELETE", f"/api/spaces/{space}/pause")
    await house.until_idle()
    assert await run_names(house, message) == ["Architect", "Ops"]
    assert (await states(house, message))["Guard"] == ("passed", None)


async def test_e12_an_answer_to_a_wait_resumes_the_run_and_elects_no_agent(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Ops")
    house.model.script = answers({"Guard": [say("Which one?", wait=True), say("Thanks.")], "Ops": [say("Yes.")]})
    await house.owner.say(space, "@Guard pick one")
    await house.until_waiting()
    answer = await house.owner.say(space, "the first")
    await house.until_idle()
    house.advance(60)
    await house.until_idle()
    assert await states(house, answer) == {"Guard": ("done", None)}
    assert (await house.texts(space))[-1] == ("Guard", "Thanks.")


async def test_e12_a_canceled_run_does_not_wake_the_others(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    slow = say("Done.")
    slow.gate = asyncio.Event()
    house.model.script = lambda _: slow
    message = await house.owner.say(space, "a long task")
    await house.model.until_asked(len(house.model.asked) + 1)
    run = (await house.runs())[-1]
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    house.advance(60)
    await house.until_idle()
    passed = ("passed", "canceled by Owner")
    assert await states(house, message) == {"Guard": ("passed", None), "Architect": passed, "Ops": passed}
    slow.gate.set()


async def test_e12_agents_wake_only_the_agents_they_mention(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    house.model.script = answers({"Guard": [say("@Ops your turn"), say("I asked Ops.")], "Ops": silent()})
    await house.owner.say(space, "please arrange it")
    await house.until_idle()
    asked, plain = (await house.owner.history(space))["messages"][-2:]
    assert await house.deliveries(asked) == [("Ops", "passed")]
    assert await house.deliveries(plain) == []


async def test_e12_agents_are_told_how_the_space_wakes_agents(house: House) -> None:
    space, _ = await elected_space(house)
    await talk_with(house, house.owner, space, "Guard")
    seen: list[Asked] = house.asked("Guard")
    assert "goes to the agent that the person last talked with" in seen[0].text
    sent = seen[1].results[-1]
    assert (sent["wakes"], sent["notWoken"]) == (
        [],
        [{"name": name, "why": "not mentioned"} for name in ("Architect", "Ops")],
    )


async def test_e12_a_service_is_heard_like_a_person(house: House) -> None:
    space, _ = await elected_space(house)
    shop = await house.world.person("Shop", "service")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": shop.id})
    house.model.script = answers({})
    message = await shop.say(space, "An order arrived.")
    await house.until_idle()
    assert await run_names(house, message) == sorted(NAMES)


async def test_e12_a_roles_agent_that_stands_by_goes_on_with_its_other_messages(house: House) -> None:
    space, _ = await elected_space(house, mind="roles")
    await talk_with(house, house.owner, space, "Guard")
    slow = say("Done.")
    slow.gate = asyncio.Event()
    house.model.script = lambda asked: slow if asked.agent == "Guard" else silent()
    await house.owner.say(space, "a long task")
    await house.model.until_asked(len(house.model.asked) + 1)
    other = await house.owner.say(space, "@Ops and you?")
    await until(lambda: _is(house, other, {"Ops": ("passed", None)}))
    slow.gate.set()
    house.model.script = answers({})
    await house.until_idle()


async def _is(house: House, message: Any, wanted: dict[str, tuple[str, str | None]]) -> bool:
    return await states(house, message) == wanted
