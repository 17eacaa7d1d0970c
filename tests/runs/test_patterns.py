"""Five conversation patterns for agents that never wait: each run reads what it needs from its context."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from tests.model_server import Asked, Reply, by_agent, call, calls, say, silent
from tests.runs.house import House, block, once, says, timeline
from tests.world import Person

DEPLOY = {
    "name": "deploy",
    "type": "static",
    "description": "Deploys a version.",
    "inputSchema": {"type": "object", "properties": {"version": {"type": "string"}}},
    "execution": {"output": {"deployed": 3}},
}


async def bot(house: House, name: str, **config: Any) -> Person:
    return await house.agent(name, waits=False, **config)


async def test_c1_c3_pattern_1_an_agent_asks_and_a_person_answers(house: House) -> None:
    sarah = await house.person("Sarah")
    space = await house.space("Deployments", sarah, await bot(house, "DeployBot", tools=[DEPLOY]))

    def script(asked: Asked) -> Reply | Awaitable[Reply]:
        if asked.trigger_text == "yes":
            return once(call("deploy", version="2.1"), say("Deployment complete!"))(asked)
        return once(say("This affects 3 services. Confirm by replying yes."))(asked)

    house.model.script = script
    await sarah.say(space, "Deploy v2.1 to production")
    await house.until_idle()
    await sarah.say(space, "yes")
    await house.until_idle()
    first, second = house.invocations("DeployBot")
    assert timeline(first) == ['Sarah: "Deploy v2.1 to production"  [NEW] ← TRIGGER']
    assert timeline(second) == [
        'Sarah: "Deploy v2.1 to production"  [SEEN]',
        'DeployBot: "This affects 3 services. Confirm by replying yes."  [SEEN]',
        'Sarah: "yes"  [NEW] ← TRIGGER',
    ]
    assert await house.texts(space) == [
        ("Sarah", "Deploy v2.1 to production"),
        ("DeployBot", "This affects 3 services. Confirm by replying yes."),
        ("Sarah", "yes"),
        ("DeployBot", "Deployment complete!"),
    ]
    assert [run["status"] for run in await house.runs()] == ["completed", "completed"]


async def test_t1_c1_pattern_2_each_turn_of_a_conversation_is_a_run_of_its_own(house: House) -> None:
    husam = await house.person("Husam")
    space = await house.space("Travel", husam, await bot(house, "Agent"))
    answers = {
        "Find me hotels in Tokyo": "What's your budget per night?",
        "$150": "Which dates?",
        "May 3 to 5": "Found 3 great options.",
    }
    house.model.script = lambda asked: says(answers[asked.trigger_text])(asked)
    for turn in answers:
        await husam.say(space, turn)
        await house.until_idle()
    assert timeline(house.invocations("Agent")[-1]) == [
        'Husam: "Find me hotels in Tokyo"  [SEEN]',
        'Agent: "What\'s your budget per night?"  [SEEN]',
        'Husam: "$150"  [SEEN]',
        'Agent: "Which dates?"  [SEEN]',
        'Husam: "May 3 to 5"  [NEW] ← TRIGGER',
    ]
    runs = await house.runs()
    assert [run["trigger"]["text"] for run in runs] == list(answers)
    assert {run["chainDepth"] for run in runs} == {0}
    assert [text for _, text in await house.texts(space)] == [part for turn in answers.items() for part in turn]


async def test_t3_t4_pattern_3_three_agents_discuss_and_each_contributes_when_it_matters(house: House) -> None:
    names = ("Architect", "SecurityBot", "DevOps")
    husam = await house.person("Husam")
    space = await house.space("Architecture", husam, *[await bot(house, name) for name in names])
    asked_for = "We need to redesign the auth system"
    parts = {
        ("Architect", asked_for): "OAuth2 with JWT.",
        ("SecurityBot", "OAuth2 with JWT."): "Add PKCE for public clients.",
        ("DevOps", "Add PKCE for public clients."): "I can set up Keycloak.",
        ("Architect", "I can set up Keycloak."): "I'll draft the document.",
    }

    def script(asked: Asked) -> Reply:
        text = parts.get((asked.agent, asked.trigger_text))
        return say(text) if text and asked.step == 0 else silent("nothing to add")

    house.model.script = script
    await husam.say(space, asked_for)
    await house.until_idle()
    said = [("Husam", asked_for), *((name, text) for (name, _), text in parts.items())]
    assert await house.texts(space) == said
    # Every message triggered each agent except its sender once.
    runs = await house.runs()
    for depth, (sender, text) in enumerate(said):
        woken = [run for run in runs if run["trigger"]["text"] == text]
        assert sorted(run["agentName"] for run in woken) == sorted({*names} - {sender})
        assert {run["chainDepth"] for run in woken} == {depth}
    last = next(each for each in house.invocations("Architect") if each.trigger_text == "I can set up Keycloak.")
    assert timeline(last)[:2] == [f'Husam: "{asked_for}"  [SEEN]', 'Architect: "OAuth2 with JWT."  [SEEN]']
    assert timeline(last)[-1] == 'DevOps: "I can set up Keycloak."  [NEW] ← TRIGGER'


async def test_t9_c1_pattern_4_votes_are_counted_by_reading_the_history(house: House) -> None:
    people = {name: await house.person(name) for name in ("Ahmad", "Sarah", "Husam")}
    space = await house.space("Team", *people.values(), await bot(house, "Agent"))

    def script(asked: Asked) -> Reply:
        if asked.step:
            return silent()
        if asked.trigger_text == "Let the team vote":
            return say("Team vote: Option A or B? Everyone please reply.")
        votes = [line for line in timeline(asked) if '"Option ' in line]
        return say("Option A wins.") if len(votes) == 3 else silent()

    house.model.script = script
    await house.owner.say(space, "Let the team vote")
    await house.until_idle()
    for name, vote in (("Ahmad", "A"), ("Sarah", "B"), ("Husam", "A")):
        await people[name].say(space, f"Option {vote}")
        await house.until_idle()
    assert [text for _, text in await house.texts(space)] == [
        "Let the team vote",
        "Team vote: Option A or B? Everyone please reply.",
        "Option A",
        "Option B",
        "Option A",
        "Option A wins.",
    ]
    assert [timeline(each)[2:] for each in house.invocations("Agent")[1:]] == [
        ['Ahmad: "Option A"  [NEW] ← TRIGGER'],
        ['Ahmad: "Option A"  [SEEN]', 'Sarah: "Option B"  [NEW] ← TRIGGER'],
        ['Ahmad: "Option A"  [SEEN]', 'Sarah: "Option B"  [SEEN]', 'Husam: "Option A"  [NEW] ← TRIGGER'],
    ]
    assert [run["status"] for run in await house.runs()] == ["completed"] * 4


async def test_p1_p2_pattern_5_memories_and_goals_carry_a_long_piece_of_work(house: House) -> None:
    finance = await house.person("Finance")
    space = await house.space("Reports", finance, await bot(house, "Agent"))
    begin = once(
        say("Started the Q4 report. I need budget numbers from Finance."),
        calls(
            ("set_memories", {"memories": [{"key": "q4_report", "value": "Revenue $2.1M. Waiting for the budget."}]}),
            ("set_goals", {"goals": [{"id": "q4", "description": "Complete the Q4 report"}]}),
        ),
    )
    finish = once(
        say("Q4 Report: Revenue $2.1M, Budget $500K."),
        calls(
            ("set_goals", {"goals": [{"id": "q4", "status": "completed"}]}),
            ("set_memories", {"memories": [{"key": "q4_report", "value": ""}]}),
        ),
    )
    house.model.script = by_agent(
        {"Agent": lambda asked: (finish if asked.trigger_text == "Budget is $500K" else begin)(asked)}
    )
    await house.owner.say(space, "Generate the Q4 report")
    await house.until_idle()
    await finance.say(space, "Budget is $500K")
    await house.until_idle()
    second = house.invocations("Agent")[1]
    assert timeline(second)[1:] == [
        'Agent: "Started the Q4 report. I need budget numbers from Finance."  [SEEN]',
        'Finance: "Budget is $500K"  [NEW] ← TRIGGER',
    ]
    assert block(second, "MEMORIES") == ['- [q4_report] "Revenue $2.1M. Waiting for the budget." (from "Reports")']
    assert block(second, "GOALS") == ["- Complete the Q4 report (priority: 0) [id: q4]"]
    assert (await house.texts(space))[-1] == ("Agent", "Q4 Report: Revenue $2.1M, Budget $500K.")
    await finance.say(space, "Thanks")
    await house.until_idle()
    third = house.invocations("Agent")[2]
    assert block(third, "MEMORIES") == block(third, "GOALS") == []


async def test_m2_x7_the_prompt_of_an_agent_that_never_waits_does_not_mention_waits(house: House) -> None:
    space = await house.space("Project Alpha", await bot(house, "Agent"))
    house.model.script = says("delivered?")
    await house.owner.say(space, "hello")
    await house.until_idle()
    first, second = house.asked("Agent")
    assert "wait" not in first.text.lower()
    assert "senderExpectsReply" not in first.text
    [result] = second.results
    reach = {"wakes": [], "notWoken": [], "hopsLeft": 4}
    assert {**result, "messageId": "?"} == {"success": True, "messageId": "?", "status": "delivered", **reach}
