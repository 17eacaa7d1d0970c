"""The basic scenarios of triggers, waits and active spaces, one test each, in the real engine."""

from __future__ import annotations

from tests.model_server import by_agent, call, say, sequence, silent
from tests.runs.house import House, block, once, says, timeline

ADVICE = {
    "name": "advise",
    "description": "Gives advice.",
    "type": "static",
    "visible": True,
    "execution": {"output": {"advice": "sleep on it"}},
}


async def test_t1_a_persons_message_in_a_space_with_one_agent_triggers_it_at_depth_0(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = by_agent({"Scout": says("On my way.")})
    await house.owner.say(space, "Scout?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["chainDepth"], run["agentName"]) == ("completed", 0, "Scout")
    assert await house.texts(space) == [("Owner", "Scout?"), ("Scout", "On my way.")]


async def test_t2_a_persons_message_in_a_space_with_three_agents_triggers_all_three(house: House) -> None:
    agents = [await house.agent(name) for name in ("Architect", "Guard", "Ops")]
    space = await house.space("Architecture", *agents)
    message = await house.owner.say(space, "We need to redesign the auth system")
    await house.until_idle()
    runs = await house.runs()
    assert sorted(run["agentName"] for run in runs) == ["Architect", "Guard", "Ops"]
    assert {(run["trigger"]["messageId"], run["chainDepth"], run["status"]) for run in runs} == {
        (message["id"], 0, "completed")
    }


async def test_t3_t4_an_agents_message_triggers_the_two_other_agents_one_deeper(house: House) -> None:
    architect, guard, ops = [await house.agent(name) for name in ("Architect", "Guard", "Ops")]
    space = await house.space("Architecture", architect, guard, ops)
    house.model.script = by_agent({"Architect": [say("OAuth2 with JWT?")]})
    await house.owner.say(space, "We need to redesign the auth system")
    await house.until_idle()
    answer = (await house.owner.history(space))["messages"][-1]
    assert (answer["text"], answer["chainDepth"]) == ("OAuth2 with JWT?", 1)
    triggered = [run for run in await house.runs() if run["trigger"]["messageId"] == answer["id"]]
    assert sorted((run["agentName"], run["chainDepth"]) for run in triggered) == [("Guard", 1), ("Ops", 1)]


async def test_t5_at_the_depth_limit_a_message_is_posted_and_triggers_no_agent(house: House) -> None:
    space = await house.space("Ping Pong", await house.agent("Ping"), await house.agent("Pong"))
    house.model.script = by_agent({"Ping": says("ping"), "Pong": says("pong")})
    await house.owner.say(space, "@Ping go", mentions=[])
    await house.until_idle()
    messages = (await house.owner.history(space, limit=200))["messages"]
    deepest = [message for message in messages if message["chainDepth"] == 5]
    assert deepest
    for message in deepest:
        assert await house.deliveries(message) == []
    assert max(run["chainDepth"] for run in await house.runs()) == 4


async def test_m4_m6_m10_send_message_with_wait_pauses_the_run_until_any_entity_replies(house: House) -> None:
    analyst = await house.agent("Analyst")
    husam = await house.person("Husam")
    space = await house.space("Project Alpha", analyst, husam)
    house.model.script = sequence(say("Thoughts?", wait=True), say("Thank you."))
    await house.owner.say(space, "Ask the team")
    await house.until_waiting()
    [waiting] = await house.runs()
    assert waiting["status"] == "waiting_reply"
    await husam.say(space, "Looks good")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["id"], run["status"]) == (waiting["id"], "completed")
    assert (await house.texts(space))[-1] == ("Analyst", "Thank you.")
    assert timeline(house.model.asked[1]) == [
        'Owner: "Ask the team"  [NEW] ← TRIGGER',
        'You: called send_message("Thoughts?", wait: true)',
        'Husam: "Looks good"  [NEW] ← RESUME: Husam replied. Continue from here.',
    ]


async def test_m5_send_message_with_a_message_id_resumes_the_run_that_waits_on_it(house: House) -> None:
    asker, approver = await house.agent("Asker"), await house.agent("Approver")
    space = await house.space("Project Alpha", asker, approver)
    house.model.script = by_agent(
        {
            "Asker": [say("May I?", wait=True), silent()],
            "Approver": lambda asked: (
                say("Approved.", messageId=_message_id(asked.text))
                if asked.trigger_text == "May I?" and asked.step == 0
                else silent()
            ),
        }
    )
    await house.owner.say(space, "Asker, get an approval")
    await house.until_idle()
    question, answer = (await house.owner.history(space))["messages"][1:]
    assert (question["text"], answer["text"], answer["replyTo"]) == ("May I?", "Approved.", question["id"])
    [run] = await house.runs(asker)
    assert run["status"] == "completed"
    assert timeline(house.invocations("Asker")[1])[-1].endswith("← RESUME: Approver replied. Continue from here.")


async def test_m9_a_wait_that_times_out_resumes_the_run_with_a_time_out(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Analyst"))
    house.model.script = sequence(say("Thoughts?", wait=True), silent())
    await house.owner.say(space, "Ask the team")
    await house.until_waiting()
    house.advance(300)
    await house.model.until_asked(2)
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert timeline(house.model.asked[1])[-1] == ("← RESUME: timeout, nobody replied within 300 s. Continue from here.")


async def test_a1_m1_a_plan_starts_a_run_with_no_active_space_and_the_agent_must_enter_one(house: House) -> None:
    planner = await house.agent("Planner")
    space = await house.space("Daily Reports", planner)
    plan = {"name": "Daily", "instruction": "Post the report.", "runAfter": "2 hours"}
    house.model.script = sequence(call("set_plans", plans=[plan]), silent())
    await house.owner.say(space, "Report in two hours")
    await house.until_idle()
    house.model.script = sequence(say("Too early."), call("enter_space", spaceId=space), say("The report."), silent())
    house.advance(2 * 3600)
    await house.model.until_asked(3)
    await house.until_idle()
    first, second, *_ = house.asked("Planner")[2:]
    assert "ACTIVE SPACE: none (call enter_space to enter a space first)" in first.text
    assert second.results == [
        {
            "success": False,
            "error": "Nothing was sent: no space is active. "
            "Call enter_space with one of the ids under YOUR SPACES first.",
        }
    ]
    assert await house.texts(space) == [("Owner", "Report in two hours"), ("Planner", "The report.")]


async def test_a4_messages_go_to_the_space_that_was_entered_last(house: House) -> None:
    courier = await house.agent("Courier")
    first, second = await house.space("First", courier), await house.space("Second", courier)
    house.model.script = sequence(
        call("enter_space", spaceId=first),
        say("for the first"),
        call("enter_space", spaceId=second),
        say("for the second"),
        silent(),
    )
    await house.tell(courier)
    await house.until_idle()
    assert await house.texts(first) == [("Courier", "for the first")]
    assert await house.texts(second) == [("Courier", "for the second")]


async def test_t8_two_messages_make_two_concurrent_runs_and_the_later_sees_the_other(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = by_agent({"Scout": [say("Which one?", wait=True), silent()]})
    await house.owner.say(space, "first")
    await house.until_waiting()
    elsewhere = await house.space("Project Beta", scout)
    await house.owner.say(elsewhere, "second")
    await house.until_idle()
    one, two = await house.runs(scout)
    assert (one["status"], two["status"]) == ("waiting_reply", "completed")
    assert block(house.model.asked[1], "ACTIVE RUNS") == [
        f'- Run {two["id"]} (this run) — triggered by Owner in "Project Beta"',
        f'- Run {one["id"]} — waiting_reply in "Project Alpha" (waiting for Owner)',
    ]


async def test_j4_a_visible_tool_after_enter_space_posts_its_result_in_the_active_space(house: House) -> None:
    guide = await house.agent("Guide", tools=[ADVICE])
    space = await house.space("Project Alpha", guide)
    house.model.script = sequence(call("enter_space", spaceId=space), call("advise"), silent())
    await house.tell(guide)
    await house.until_idle()
    [message] = (await house.owner.history(space))["messages"]
    assert (message["kind"], message["sender"]["name"], message["tool"]["name"]) == ("tool", "Guide", "advise")
    assert (message["tool"]["status"], message["tool"]["output"]) == ("complete", {"advice": "sleep on it"})
    assert len(await house.runs()) == 1


async def test_j4_a_visible_tool_without_an_active_space_runs_silently_and_the_run_says_so(house: House) -> None:
    guide = await house.agent("Guide", tools=[ADVICE])
    space = await house.space("Project Alpha", guide)
    house.model.script = sequence(call("advise"), silent())
    await house.tell(guide)
    await house.until_idle()
    assert house.model.asked[1].results == [{"advice": "sleep on it"}]
    assert (await house.owner.history(space))["messages"] == []
    [run] = await house.runs()
    assert run["status"] == "completed"
    [note] = run["notes"]
    assert "no space was active" in note


async def test_t9_an_agent_with_nothing_to_say_ends_its_run_and_needs_no_tool_for_it(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    message = await house.owner.say(space, "just thinking aloud")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["usage"]["requests"]) == ("completed", 1)
    assert await house.texts(space) == [("Owner", "just thinking aloud")]
    assert await house.deliveries(message) == [("Scout", "passed")]
    assert "skip" not in house.model.asked[0].tool_names


async def test_m16_the_same_message_twice_triggers_an_agent_once(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = once(say("Yes?"))
    first = await house.owner.say(space, "hello", clientId="c-1")
    again = await house.owner.say(space, "hello", clientId="c-1")
    await house.until_idle()
    assert again["id"] == first["id"]
    assert len(await house.runs()) == 1
    assert await house.texts(space) == [("Owner", "hello"), ("Scout", "Yes?")]


def _message_id(text: str) -> str:
    """Copied from the TRIGGER block, as a model would."""
    return text.split("\n  messageId: ")[1].split("\n")[0]
