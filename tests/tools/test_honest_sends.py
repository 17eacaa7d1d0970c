"""E9: the result of `send_message` says which agents the message wakes."""

from __future__ import annotations

from majlis.inbox.deliver import MAX_NAMES, Reach
from majlis.minds.timeline.scene import ActiveSpace
from tests.minds.scenes import ALPHA, config, seed_scene
from tests.minds.view_text import seen_text
from tests.model_server import Asked, Reply, Script, say, silent
from tests.runs.house import House


def result_of(house: House, agent: str) -> dict[str, object]:
    """The result of the agent's last send."""
    last: dict[str, object] = [asked for asked in house.asked(agent) if asked.results][-1].results[-1]
    return last


def only(name: str, text: str) -> Script:
    """This agent sends the text once; the others stay silent."""

    def script(asked: Asked) -> Reply:
        return say(text) if asked.agent == name and asked.step == 0 else silent()

    return script


async def test_e9_a_send_names_the_agents_that_it_wakes_and_the_hops_left(house: House) -> None:
    space = await house.space("Project Alpha", *[await house.agent(name) for name in ("Ada", "Bo", "Cy")])
    house.model.script = only("Ada", "hello")
    await house.owner.say(space, "hi")
    await house.until_idle()
    sent = result_of(house, "Ada")
    assert (sent["wakes"], sent["notWoken"], sent["hopsLeft"]) == (["Bo", "Cy"], [], 4)


async def test_e9_a_send_says_why_agents_are_not_woken(house: House) -> None:
    agents = [await house.agent(name) for name in ("Ada", "Bo", "Cy")]
    space = await house.space("Project Alpha", *agents, triggers="mentioned")
    house.model.script = only("Ada", "@Bo is it fine?")
    await house.owner.say(space, "@Ada ask Bo", mentions=[agents[0].id])
    await house.until_idle()
    sent = result_of(house, "Ada")
    assert (sent["wakes"], sent["notWoken"]) == (["Bo"], [{"name": "Cy", "why": "not mentioned"}])


async def test_e9_t5_at_the_end_of_a_chain_the_sender_learns_that_no_agent_is_woken(house: House) -> None:
    space = await house.space(
        "Project Alpha", await house.agent("Ada", guard=False), await house.agent("Bo", guard=False)
    )
    house.model.script = lambda asked: say("and you?") if asked.step == 0 else silent()
    await house.owner.say(space, "talk")
    await house.until_idle()
    results = [asked.results[-1] for asked in house.model.asked if asked.results]
    assert {each["hopsLeft"] for each in results} == {4, 3, 2, 1, 0}
    last = next(each for each in results if each["hopsLeft"] == 0)
    assert last["wakes"] == []
    assert [each["why"] for each in last["notWoken"]] == ["chain limit reached"]


def test_e9_many_names_are_counted() -> None:
    names = [f"Agent {n}" for n in range(MAX_NAMES + 5)]
    result = Reach(names, [(name, "not mentioned") for name in names], 1).result()
    assert (len(result["wakes"]), result["moreWoken"]) == (MAX_NAMES, 5)
    assert (len(result["notWoken"]), result["moreNotWoken"]) == (MAX_NAMES, 5)


def test_e9_the_prompt_says_how_the_space_wakes_agents() -> None:
    active = ActiveSpace(ALPHA.id, ALPHA.name, 0, 0, "mentioned")
    rule = "Your messages here wake only the agents that you mention"
    for layout in ("stable", "classic"):
        assert rule in seen_text(seed_scene(active=active, config=config(layout=layout)))
    # The original design has one rule for all spaces and states none.
    assert "Your messages here" not in seen_text(seed_scene(config=config(layout="classic")))
