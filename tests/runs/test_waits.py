"""M4–M12: a waiting run is only a row; what ends its wait, and what it sees when it resumes."""

from __future__ import annotations

import asyncio

from majlis.settings import Settings
from tests.model_server import Asked, ModelServer, Reply, by_agent, call, say, sequence, silent
from tests.runs.cards import asked as put_up_card
from tests.runs.cards import submit
from tests.runs.house import House, block, once, timeline
from tests.runs.questions import asking
from tests.world import serve_world


async def test_m4_a_waiting_run_says_where_and_for_what_and_how_long(house: House) -> None:
    asker, other = await house.agent("Asker", limits={"waitSeconds": 120}), await house.agent("Other")
    space = await house.space("Project Alpha", asker, other)
    house.model.script = by_agent({"Asker": [say("Well?", wait=True)]})
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Ask me")
        question = (await follower.until_message("Well?")).data["message"]
        paused = (await follower.until("run.waiting_reply", agentId=asker.id)).data
        inactive = (await follower.until("agent.inactive", agentId=asker.id)).data
    await house.until_idle()
    [run] = await house.runs(asker)
    assert run["status"] == "waiting_reply"
    assert run["wait"] == paused["wait"]
    assert run["wait"] == {
        "spaceId": space,
        "messageId": question["id"],
        "startedAt": run["wait"]["startedAt"],
        "timeoutSeconds": 120,
    }
    assert paused["runId"] == inactive["runId"] == run["id"]
    [triggered] = [run for run in await house.runs(other) if run["trigger"]["messageId"] == question["id"]]
    assert triggered["trigger"]["senderExpectsReply"] is True
    shown = [asked for asked in house.asked("Other") if asked.trigger_text == "Well?"]
    assert "  senderExpectsReply: true\n" in shown[0].text


async def test_m4_a_waiting_run_holds_no_task_no_connection_and_no_slot(house: House) -> None:
    asker, space, _ = await asking(house, limits={"concurrentRuns": 1})
    await house.until_idle()
    worker = house.world.gateway.worker
    assert worker is not None
    assert (worker.active, house.model.open_requests) == (0, 0)
    # Its only slot is free for another run.
    elsewhere = await house.space("Project Beta", asker)
    house.model.script = once(say("Here, too."))
    await house.owner.say(elsewhere, "hello")
    await house.until_idle()
    assert (await house.texts(elsewhere))[-1] == ("Asker", "Here, too.")
    assert [run["status"] for run in await house.runs(asker)] == ["waiting_reply", "completed"]
    assert space


async def test_m6_m7_an_unthreaded_answer_resumes_the_run_and_triggers_no_other(house: House) -> None:
    asker, space, _ = await asking(house, say("Thanks."))
    asked_before = len(house.model.asked)
    async with house.owner.follow(space) as follower:
        answer = await house.owner.say(space, "Fine")
        resumed = await follower.until("run.resumed", agentId=asker.id, status="replied")
        await follower.until("agent.active", runId=resumed.data["runId"])
        await follower.until("run.completed", runId=resumed.data["runId"])
    await house.until_idle()
    [run] = await house.runs()
    assert (run["id"], run["status"], run["wait"]) == (resumed.data["runId"], "completed", None)
    # One more invocation (two requests: its message, then silence), and one delivery.
    assert len(house.invocations("Asker")) == 2
    assert len(house.model.asked) - asked_before == 2
    assert await house.deliveries(answer) == [("Asker", "done")]
    assert [text for _, text in await house.texts(space)] == ["Ask me", "Well?", "Fine", "Thanks."]


async def test_m10_a_resumed_run_reads_its_question_the_time_between_and_the_answer(house: House) -> None:
    """No open call: a new conversation with everything that has happened on the timeline."""
    sara = await house.person("Sara")
    asker = await house.agent("Asker")
    space = await house.space("Project Alpha", asker, sara)
    first = await house.owner.say(space, "Hello", mentions=[])
    await house.until_idle()
    house.model.script = sequence(
        call("set_memories", memories=[{"key": "topic", "value": "colours"}]), say("Red or blue?", wait=True), silent()
    )
    await house.owner.say(space, "Ask Sara for a colour")
    await house.until_waiting()
    question = (await house.owner.history(space))["messages"][-1]
    await house.owner.say(space, "Take your time", replyTo=first["id"])
    await house.until_idle()
    house.model.script = sequence(silent())
    await sara.say(space, "Blue", replyTo=question["id"])
    await house.until_idle()
    resumed = house.invocations("Asker")[-1]
    assert {message["role"] for message in resumed.messages} == {"system", "user"}
    lines = timeline(resumed)
    assert lines[:2] == ['Owner: "Hello"  [SEEN]', 'Owner: "Ask Sara for a colour"  [NEW] ← TRIGGER']
    assert lines[2].startswith('You: called set_memories({"memories":')
    assert lines[3] == 'You: called send_message("Red or blue?", wait: true)'
    assert lines[4].startswith(f'Owner: "Take your time" (in reply to msg:{first["id"]})')
    assert lines[5:] == [
        f'Sara: "Blue" (in reply to msg:{question["id"]})  [NEW] ← RESUME: Sara replied. Continue from here.'
    ]


async def test_m10_a_wait_survives_a_restart_of_the_server(settings: Settings) -> None:
    async with ModelServer(sequence(say("Well?", wait=True), say("Thanks."))) as model:
        async with serve_world(settings) as world:
            house = House(world, model)
            space = await house.space("Project Alpha", await house.agent("Asker"))
            await house.owner.say(space, "Ask me")
            await house.until_waiting()
        async with serve_world(settings) as world:
            house = House(world, model)
            [waiting] = await house.runs()
            assert waiting["status"] == "waiting_reply"
            await house.owner.say(space, "Fine")
            await house.until_idle()
            [run] = await house.runs()
            assert (run["id"], run["status"]) == (waiting["id"], "completed")
            assert [text for _, text in await house.texts(space)] == ["Ask me", "Well?", "Fine", "Thanks."]
            assert timeline(model.asked[1])[1:] == [
                'You: called send_message("Well?", wait: true)',
                'Owner: "Fine"  [NEW] ← RESUME: Owner replied. Continue from here.',
            ]


async def test_m6_the_waiters_own_messages_never_resume_it(house: House) -> None:
    asker, space, question = await asking(house)
    await asker.say(space, "by the way")
    await asker.say(space, "answering myself", replyTo=question["id"])
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "waiting_reply"
    # Not even another run of the same agent.
    house.model.script = sequence(call("enter_space", spaceId=space), say("from my other run"), silent())
    await house.tell(asker)
    await house.until_idle()
    assert [run["status"] for run in await house.runs()] == ["waiting_reply", "completed"]


async def test_m6_a_message_in_another_space_resumes_nothing(house: House) -> None:
    asker, _, _ = await asking(house)
    elsewhere = await house.space("Project Beta", asker)
    house.model.script = sequence()
    await house.owner.say(elsewhere, "unrelated")
    await house.until_idle()
    assert [run["status"] for run in await house.runs()] == ["waiting_reply", "completed"]


async def test_m5_m7_a_reply_resumes_only_the_run_that_waits_on_that_message(house: House) -> None:
    asker = await house.agent("Asker")
    space = await house.space("Project Alpha", asker)

    def script(asked: Asked) -> Reply:
        question = {"one": "Question one?", "two": "Question two?"}.get(asked.trigger_text)
        return say(question, wait=True) if question and "RESUME" not in asked.text else silent()

    house.model.script = script
    opening = await house.owner.say(space, "one")
    await house.until_waiting(1)
    # Not an answer to the first question: it replies to another message.
    await house.owner.say(space, "two", replyTo=opening["id"])
    await house.until_waiting(2)
    one, two = await house.runs(asker)
    questions = {each["text"]: each for each in (await house.owner.history(space))["messages"]}
    reply = await house.owner.say(space, "to the first", replyTo=questions["Question one?"]["id"])
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["completed", "waiting_reply"]
    assert await house.deliveries(reply) == [("Asker", "done")]
    # A reply to a message without a wait is an ordinary trigger.
    await house.owner.say(space, "to nothing", replyTo=opening["id"])
    await house.until_idle()
    runs = await house.runs(asker)
    assert [run["status"] for run in runs] == ["completed", "waiting_reply", "completed"]
    assert runs[2]["trigger"]["text"] == "to nothing"
    assert {runs[0]["id"], runs[1]["id"]} == {one["id"], two["id"]}


async def test_m7_one_message_wakes_an_agent_with_two_waits_once(house: House) -> None:
    """The latest wait is answered; the other one continues."""
    asker = await house.agent("Asker")
    space = await house.space("Project Alpha", asker)
    house.model.script = lambda asked: silent() if "RESUME" in asked.text else say("Well?", wait=True)
    opening = await house.owner.say(space, "one")
    await house.until_waiting(1)
    await house.owner.say(space, "two", replyTo=opening["id"])
    await house.until_waiting(2)
    before = len(house.model.asked)
    await house.owner.say(space, "an answer")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["waiting_reply", "completed"]
    assert len(house.model.asked) == before + 1


async def test_m6_one_message_resumes_the_waits_of_several_agents(house: House) -> None:
    agents = [await house.agent(name) for name in ("First", "Second")]
    space = await house.space("Project Alpha", *agents)
    opened = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        if "RESUME" in asked.text or asked.trigger_text != "Ask me":
            return silent()
        if len([each for each in house.model.asked if each.trigger_text == "Ask me"]) == 2:
            opened.set()
        await opened.wait()
        return say(f"{asked.agent} asks", wait=True)

    house.model.script = script
    await house.owner.say(space, "Ask me")
    # Each question resumes the other run, in either order; so wait until only answered runs are left.
    await house.until_idle()
    assert len([run for run in await house.runs() if run["status"] == "waiting_reply"]) == 1
    await house.owner.say(space, "an answer for all")
    await house.until_idle()
    assert {run["status"] for run in await house.runs()} == {"completed"}


async def test_t6_a_resumed_run_takes_the_greater_depth(house: House) -> None:
    asker, other = await house.agent("Asker"), await house.agent("Other")
    space = await house.space("Project Alpha", asker, other)
    house.model.script = by_agent(
        {
            "Asker": [say("Well?", wait=True), say("Thanks.")],
            "Other": lambda asked: say("Fine.") if (asked.trigger_text, asked.step) == ("Well?", 0) else silent(),
        }
    )
    await house.owner.say(space, "Ask")
    await house.until_idle()
    depths = [(m["text"], m["chainDepth"]) for m in (await house.owner.history(space))["messages"]]
    assert depths == [("Ask", 0), ("Well?", 1), ("Fine.", 2), ("Thanks.", 3)]
    [run] = await house.runs(asker)
    assert run["chainDepth"] == 2


async def test_t6_an_answer_of_a_person_does_not_lower_the_depth_of_a_run(house: House) -> None:
    asker, other = await house.agent("Asker"), await house.agent("Other")
    space = await house.space("Project Alpha", asker, other)
    house.model.script = by_agent(
        {
            "Other": [say("Asker, ask!")],
            "Asker": lambda asked: (
                (say("Thanks.") if asked.step == 0 else silent())
                if "RESUME" in asked.text
                else say("Well?", wait=True)
                if asked.trigger_text == "Asker, ask!"
                else silent()
            ),
        }
    )
    await house.owner.say(space, "Go")
    await house.until_waiting()
    await house.until_idle()
    await house.owner.say(space, "Fine")
    await house.until_idle()
    [run] = [run for run in await house.runs(asker) if run["trigger"]["text"] == "Asker, ask!"]
    assert run["chainDepth"] == 1
    thanks = next(m for m in (await house.owner.history(space))["messages"] if m["text"] == "Thanks.")
    assert thanks["chainDepth"] == 2


async def test_a_pause_in_the_middle_of_an_answer_leaves_the_rest_undone_and_says_so(house: House) -> None:
    asker = await house.agent("Asker")
    space = await house.space("Project Alpha", asker)
    reply = Reply(calls=[("send_message", {"text": "Well?", "wait": True}), ("send_message", {"text": "Bye."})])
    house.model.script = sequence(reply, silent())
    await house.owner.say(space, "Ask me")
    await house.until_waiting()
    [run] = await house.runs()
    assert [text for _, text in await house.texts(space)] == ["Ask me", "Well?"]
    await house.owner.say(space, "Fine")
    await house.until_idle()
    run = await house.run(run["id"])
    assert run["notes"] == ["send_message was not called: the run paused before it."]


async def test_other_runs_of_the_agent_see_the_wait(house: House) -> None:
    asker, _, _ = await asking(house)
    await house.tell(asker)
    await house.until_idle()
    waiting, other = await house.runs()
    assert block(house.model.asked[-1], "ACTIVE RUNS") == [
        f'- Run {other["id"]} (this run) — triggered by service "Shop"',
        f'- Run {waiting["id"]} — waiting_reply in "Project Alpha" (waiting for Owner)',
    ]


async def test_m3_two_runs_that_ask_in_each_others_space_at_the_same_moment_both_wait(house: House) -> None:
    """Each reports its pause in the other's space: neither may block the other."""
    agents = {name: await house.agent(name) for name in ("Ann", "Bob")}
    spaces = {"Ann": await house.space("A", *agents.values()), "Bob": await house.space("B", *agents.values())}
    there = {"Ann": spaces["Bob"], "Bob": spaces["Ann"]}
    arrived = 0
    both = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        nonlocal arrived
        if asked.trigger_text != f"@{asked.agent} go":
            return silent()
        if asked.step == 0:
            return call("enter_space", spaceId=there[asked.agent])
        arrived += 1
        if arrived == 2:
            both.set()
        await both.wait()
        return say("Well?", wait=True)

    house.model.script = script
    for name, space in spaces.items():
        await house.owner.ok("PATCH", f"/api/spaces/{space}", {"triggers": "mentioned"})
        await house.owner.say(space, f"@{name} go")
    await house.until_waiting(2)
    await house.until_idle()
    for name, space in there.items():
        assert (await house.texts(space))[1:] == [(name, "Well?")]


async def test_j5_an_agent_that_may_only_read_from_now_on_can_still_be_answered(house: House) -> None:
    """A member that becomes a viewer is reported like one that leaves, but its cards are not withdrawn."""
    bot, space, card = await put_up_card(house)
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": bot.id, "role": "viewer"})
    assert (await submit(house.owner, card, True)).status_code == 200
    await house.until_idle()
    assert [run["status"] for run in await house.runs(bot)] == ["completed"]


async def test_w6_a_message_to_other_members_only_is_not_an_answer(house: House) -> None:
    desi = await house.agent("Desi")
    asker, space, question = await asking(house)
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": desi.id})
    house.model.script = by_agent({})
    remark = await house.owner.say(space, "Nice chart, @Desi")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["waiting_reply", "completed"]
    # A reply answers its question whatever it mentions, and so does a message that also mentions the asker.
    await house.owner.say(space, "Fine, @Desi knows", replyTo=question["id"])
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["completed", "completed"]
    assert remark["mentions"] == [desi.id]


async def test_w6_after_an_hour_only_a_reply_is_an_answer(house: House) -> None:
    asker, space, question = await asking(house, limits={"waitSeconds": 7200})
    house.model.script = by_agent({})
    house.advance(3601)
    await house.owner.say(space, "Good morning")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["waiting_reply", "completed"]
    await house.owner.say(space, "Fine", replyTo=question["id"])
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["completed", "completed"]


async def test_w6_an_agent_lists_mentions_by_name_or_id(house: House) -> None:
    scout, guide = await house.agent("Scout"), await house.agent("Guide")
    space = await house.space("Project Alpha", scout, guide, triggers="mentioned")
    house.model.script = by_agent({"Scout": [say("nobody", mentions=["Zed"]), say("for you", mentions=["guide"])]})
    await house.owner.say(space, "Hello @Scout")
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "Hello @Scout"), ("Scout", "for you")]
    assert [run["agentName"] for run in await house.runs()] == ["Scout", "Guide"]
    refused = house.asked("Scout")[1].messages[-1]["content"]
    assert "mentions contains Zed" in refused
