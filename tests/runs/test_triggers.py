"""T: which agents a message triggers, once each."""

from __future__ import annotations

from collections import Counter

from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.settings import Settings
from majlis.spaces.post import Draft
from tests.model_server import Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House, open_house, says, timeline


async def test_t1_a_persons_message_makes_one_run_of_the_only_agent(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Here I am."), silent())
    message = await house.owner.say(space, "Scout, are you there?")
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], run["chainDepth"], run["agentId"]) == ("completed", 0, scout.id)
    assert run["trigger"]["type"] == "space_message"
    assert run["trigger"]["messageId"] == message["id"]
    assert await house.texts(space) == [("Owner", "Scout, are you there?"), ("Scout", "Here I am.")]


async def test_t9_an_agent_with_nothing_to_say_ends_its_run_silently(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = by_agent({"Scout": silent("nothing for me")})
    message = await house.owner.say(space, "hello")
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert await house.texts(space) == [("Owner", "hello")]
    deliveries = await house.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
    assert [(each["agentId"], each["state"]) for each in deliveries] == [(scout.id, "passed")]


async def test_t2_three_agents_have_three_independent_runs_of_the_same_message(house: House) -> None:
    names = ("Architect", "Guard", "Ops")
    space = await house.space("Architecture", *[await house.agent(name) for name in names])
    failing = Reply(status=401)
    house.model.script = by_agent({"Architect": [say("Mine.")], "Guard": [failing], "Ops": [silent()]})
    message = await house.owner.say(space, "hello")
    await house.until_idle()
    runs = [run for run in await house.runs() if run["trigger"]["messageId"] == message["id"]]
    assert len({run["id"] for run in runs}) == 3
    assert sorted((run["agentName"], run["status"]) for run in runs) == [
        ("Architect", "completed"),
        ("Guard", "failed"),
        ("Ops", "completed"),
    ]
    assert await house.deliveries(message) == [("Architect", "done"), ("Guard", "failed"), ("Ops", "passed")]


async def test_t3_the_sender_is_never_triggered(house: House) -> None:
    agents = [await house.agent(name) for name in ("First", "Second", "Third")]
    space = await house.space("Project Alpha", *agents)
    house.model.script = by_agent({"First": [say("said in a run")]})
    await house.owner.say(space, "hello")
    await house.until_idle()
    # Over REST too.
    await agents[1].say(space, "said by REST")
    await house.until_idle()
    for text, sender in (("said in a run", "First"), ("said by REST", "Second")):
        woken = [run["agentName"] for run in await house.runs() if run["trigger"]["text"] == text]
        assert sorted(woken) == sorted({"First", "Second", "Third"} - {sender})


async def test_t4_t5_depth_grows_with_every_hop_and_ends_with_a_notice(house: House) -> None:
    ping, pong = await house.agent("Ping"), await house.agent("Pong")
    space = await house.space("Table", ping, pong, triggers="mentioned")
    house.model.script = lambda asked: says("@Pong ping" if asked.agent == "Ping" else "@Ping pong")(asked)
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "@Ping start")
        await house.until_idle()
        await house.owner.say(space, "that was that")
        await follower.until_message("that was that")
    messages = (await house.owner.history(space))["messages"][:-1]
    assert [(m["text"], m["chainDepth"]) for m in messages[:-1]] == [
        ("@Ping start", 0),
        ("@Pong ping", 1),
        ("@Ping pong", 2),
        ("@Pong ping", 3),
        ("@Ping pong", 4),
        ("@Pong ping", 5),
    ]
    runs = await house.runs()
    assert [(run["agentName"], run["chainDepth"], run["trigger"]["chainDepth"]) for run in runs] == [
        (name, depth, depth) for depth, name in enumerate(["Ping", "Pong", "Ping", "Pong", "Ping"])
    ]
    deepest, notice = messages[-2:]
    assert (notice["kind"], notice["replyTo"]) == ("notice", deepest["id"])
    assert notice["text"].startswith("Agents have replied to each other 5 times in a row")
    assert await house.deliveries(deepest) == await house.deliveries(notice) == []
    # It is stored and streamed like any other.
    streamed = [e.data["streamId"] for e in follower.seen if e.type == "tool-call.complete"]
    assert len(streamed) == 5
    assert [e.data["message"]["id"] for e in follower.seen if e.type == "space.message"][-3:-1] == [
        deepest["id"],
        notice["id"],
    ]


async def test_t5_a_message_at_the_limit_resumes_no_run(house: House) -> None:
    asker, deep = await house.agent("Asker"), await house.agent("Deep")
    space = await house.space("Project Alpha", asker, deep, triggers="mentioned")
    house.model.script = by_agent({"Asker": [say("Well?", wait=True)]})
    await house.owner.say(space, "@Asker ask")
    await house.until_waiting()
    answer = Draft("from very deep", chain_depth=5)
    sender = Caller(deep.id, "Deep", "agent", "member", "tok_x")
    await house.world.gateway.db.write(post_message, sender, space, answer)
    await house.until_idle()
    [run] = await house.runs(asker)
    assert run["status"] == "waiting_reply"
    notice = (await house.owner.history(space))["messages"][-1]
    assert notice["kind"] == "notice"


async def test_t5_a_person_starts_afresh(house: House) -> None:
    ping, pong = await house.agent("Ping"), await house.agent("Pong")
    space = await house.space("Table", ping, pong, triggers="mentioned")
    house.model.script = lambda asked: says("@Pong ping" if asked.agent == "Ping" else "@Ping pong")(asked)
    for _ in range(2):
        await house.owner.say(space, "@Ping start")
        await house.until_idle()
    assert [run["chainDepth"] for run in await house.runs()] == [0, 1, 2, 3, 4] * 2


async def test_t5_ten_agents_that_always_answer_come_to_an_end(settings: Settings) -> None:
    """The ten answers to the person gather (E1): each agent answers them once, and those messages trigger none."""
    agents, limit = 10, 2
    async with open_house(settings.model_copy(update={"max_chain_depth": limit})) as house:
        crowd = [await house.agent(f"Agent {n}", limits={"steps": 1}) for n in range(agents)]
        space = await house.space("Crowd", *crowd)
        house.model.script = lambda asked: says("Hello to you, too!")(asked)
        await house.owner.say(space, "hello everyone")
        await house.until_idle()
        page = await house.owner.history(space, limit=200)
        said = [m for m in page["messages"] if m["kind"] == "text"]
        notices = [m for m in page["messages"] if m["kind"] == "notice"]
        depths = Counter(m["chainDepth"] for m in said)
        assert (depths[0], depths[1]) == (1, 10)
        # Without gathering it would be 90. On a busy machine, gathering may reach its cap.
        assert 10 <= depths[2] <= 20
        # One notice for the whole chain, not one for each of these messages.
        assert len(notices) == 1
        assert len(await house.runs()) == len(said) - 1
        assert page["total"] == len(said) + len(notices)


async def test_t5_three_agents_to_the_usual_limit(house: House) -> None:
    """Without gathering, the bound of 3 agents and depth 5 would be 3·(1 + 2 + 4 + 8 + 16) = 93."""
    space = await house.space("Trio", *[await house.agent(name, limits={"steps": 1}) for name in ("A", "B", "C")])
    house.model.script = lambda asked: says("hello")(asked)
    await house.owner.say(space, "hello everyone")
    await house.until_idle()
    said = [m for m in (await house.owner.history(space, limit=200))["messages"] if m["kind"] == "text"]
    depths = Counter(m["chainDepth"] for m in said)
    assert list(depths) == [0, 1, 2, 3, 4, 5]
    assert all(3 <= depths[depth] <= 6 for depth in range(1, 6))


async def test_t6_a_plan_fires_at_the_depth_of_the_run_that_set_it(house: House) -> None:
    first, second = await house.agent("First"), await house.agent("Second")
    space = await house.space("Project Alpha", first, second, triggers="mentioned")
    plan = {"name": "Later", "instruction": "Say it.", "runAfter": "1 hour"}
    house.model.script = by_agent({"First": [say("@Second plan it")], "Second": [call("set_plans", plans=[plan])]})
    await house.owner.say(space, "@First go")
    await house.until_idle()
    house.model.script = sequence(call("enter_space", spaceId=space), say("As planned."))
    house.advance(3600)
    await house.model.until_asked(7)
    await house.until_idle()
    [planned] = [run for run in await house.runs(second) if run["trigger"]["type"] == "plan"]
    assert (planned["chainDepth"], planned["trigger"]["chainDepth"]) == (1, 1)
    said = (await house.owner.history(space))["messages"][-1]
    assert (said["text"], said["chainDepth"]) == ("As planned.", 2)


async def test_t6_service_runs_have_depth_0(house: House) -> None:
    await house.tell(await house.agent("Scout"))
    await house.until_idle()
    [run] = await house.runs()
    assert (run["chainDepth"], run["trigger"]["chainDepth"]) == (0, 0)


async def test_t6_an_agent_never_speaks_at_depth_0(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other)
    message = await scout.say(space, "by REST")
    assert message["chainDepth"] == 1
    await house.until_idle()
    [run] = await house.runs(other)
    assert run["chainDepth"] == 1
    # Nor in a run triggered by a service.
    house.model.script = by_agent({"Scout": [call("enter_space", spaceId=space), say("in a run")]})
    await house.tell(scout)
    await house.until_idle()
    assert (await house.owner.history(space))["messages"][-1]["chainDepth"] == 1


async def test_t7_an_event_of_a_service_is_delivered_once(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    first = await house.tell(scout, {"order": 7}, eventId="order-7")
    again = await house.tell(scout, {"order": 7}, eventId="order-7")
    elsewhere = await house.tell(other, {"order": 7}, eventId="order-7")
    await house.until_idle()
    late = await house.tell(scout, {"order": 7}, eventId="order-7")
    await house.until_idle()
    assert [each["duplicate"] for each in (first, again, elsewhere, late)] == [False, True, False, True]
    assert first["deliveryId"] == again["deliveryId"] == late["deliveryId"]
    assert sorted(run["agentName"] for run in await house.runs()) == ["Other", "Scout"]


async def test_t10_in_a_space_of_everyone_a_name_changes_nothing(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"), await house.agent("Guide"))
    await house.owner.say(space, "@Scout only you")
    await house.until_idle()
    assert sorted(run["agentName"] for run in await house.runs()) == ["Guide", "Scout"]


async def test_t10_w6_in_a_space_of_the_mentioned_only_they_are_triggered(house: House) -> None:
    scout, guide, ann = [await house.agent(name) for name in ("Scout", "Guide", "Ann Lee")]
    space = await house.space("Project Alpha", scout, guide, ann, triggers="mentioned")
    heard: dict[str, list[str]] = {
        "hello everyone": [],
        "I like @Scout, really": ["Scout"],
        "`@Scout` is code": [],
        "> @Scout said so": [],
        "scout@Scout is an address": [],
        "@Scouts are fine": [],
        "@scout please": ["Scout"],
        "@Scout, @Guide and @Ann Lee: go": ["Ann Lee", "Guide", "Scout"],
        "@Ann Lee": ["Ann Lee"],
    }
    for text in heard:
        await house.owner.say(space, text)
    await house.owner.say(space, "listed", mentions=[guide.id])
    await house.until_idle()
    heard["listed"] = ["Guide"]
    runs = await house.runs()
    assert {text: sorted(r["agentName"] for r in runs if r["trigger"]["text"] == text) for text in heard} == heard


async def test_t10_in_an_orchestrated_space_a_message_without_mentions_goes_to_the_orchestrator(house: House) -> None:
    boss, scout, guide = [await house.agent(name) for name in ("Boss", "Scout", "Guide")]
    space = await house.space("Project Alpha", boss, scout, guide)
    change = {"triggers": "orchestrated", "orchestratorId": boss.id}
    await house.owner.ok("PATCH", f"/api/spaces/{space}", change)
    for text in ("hello", "@Scout you"):
        await house.owner.say(space, text)
    await house.owner.say(space, "listed", mentions=[guide.id])
    await house.until_idle()
    heard = {(run["trigger"]["text"], run["agentName"]) for run in await house.runs()}
    assert heard == {("hello", "Boss"), ("@Scout you", "Scout"), ("listed", "Guide")}


async def test_t11_a_run_keeps_what_triggered_it(house: House) -> None:
    scout, sara = await house.agent("Scout"), await house.person("Sara")
    space = await house.space("Project Alpha", scout, sara)
    first = await house.owner.say(space, "first")
    await house.until_idle()
    message = await sara.say(space, "second", replyTo=first["id"])
    await house.until_idle()
    _, run = await house.runs()
    assert run["trigger"] == {
        "type": "space_message",
        "spaceId": space,
        "spaceName": "Project Alpha",
        "messageId": message["id"],
        "senderId": sara.id,
        "senderName": "Sara",
        "senderType": "human",
        "text": "second",
        "timestamp": message["createdAt"],
        "senderExpectsReply": False,
        "chainDepth": 0,
        "replyTo": first["id"],
    }


async def test_j4_a_tool_message_triggers_no_agent(house: House) -> None:
    tool = {"name": "advise", "type": "static", "visible": True, "execution": {"output": "sleep on it"}}
    scout, other = await house.agent("Scout", tools=[tool]), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other)
    house.model.script = by_agent({"Scout": [call("advise")]})
    await house.owner.say(space, "hello")
    await house.until_idle()
    used = (await house.owner.history(space))["messages"][-1]
    assert used["kind"] == "tool"
    assert await house.deliveries(used) == []
    assert len(await house.runs()) == 2


async def test_an_agent_that_joins_later_is_not_triggered_by_what_was_said_before(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha")
    await house.owner.say(space, "before")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": scout.id})
    await house.owner.say(space, "after")
    await house.until_idle()
    assert [run["trigger"]["text"] for run in await house.runs()] == ["after"]
    assert timeline(house.model.asked[0]) == ['Owner: "before"  [NEW]', 'Owner: "after"  [NEW] ← TRIGGER']
