"""W1–W5, W7–W10: waits that know whom they wait for, and for how many answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.spaces.post import Draft
from majlis.store.transactions import Tx
from majlis.waits.wait import time_out
from tests.conditions import until
from tests.model_server import Asked, Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House, block, timeline
from tests.world import Person


async def ask(house: House, *people: str, wait: Any = True, **config: Any) -> tuple[Person, str, list[Person], Any]:
    """An agent that has asked "Ship it?" and waits: agent, space, people, question."""
    asker = await house.agent("Asker", **config)
    others = [await house.person(name) for name in people]
    space = await house.space("Project Alpha", asker, *others)
    house.model.script = sequence(say("Ship it?", wait=wait))
    await house.owner.say(space, "Ask them")
    await house.until_waiting()
    return asker, space, others, (await house.owner.history(space))["messages"][-1]


def as_caller(person: Person) -> Caller:
    return Caller(person.id, person.name, "human", "member", "tok_none")


async def until_resumed(house: House, agent: str) -> None:
    """A timeout or deadlock is noticed by the worker's next poll."""
    await until(lambda: any("RESUME" in asked.text for asked in house.invocations(agent)))
    await house.until_idle()


async def refused(house: House, space: str, wait: Any, **more: Any) -> str:
    """The error that a call with this wait gets. Nothing is sent."""
    house.model.script = sequence(say("Ship it?", wait=wait, **more), silent())
    await house.owner.say(space, "Ask them")
    await house.until_idle()
    assert ("Asker", "Ship it?") not in await house.texts(space)
    return str(house.asked("Asker")[-1].results[-1]["error"])


async def test_w1_w4_answers_gather_in_the_one_run(house: House) -> None:
    wait = {"from": ["Sara", "noor", "Lina"], "need": "all"}
    asker, space, [sara, noor, lina], question = await ask(house, "Sara", "Noor", "Lina", wait=wait)
    assert question["mentions"] == [sara.id, noor.id, lina.id]
    [run] = await house.runs(asker)
    assert run["wait"]["from"] == [sara.id, noor.id, lina.id]
    assert (run["wait"]["fromNames"], run["wait"]["need"]) == (["Sara", "Noor", "Lina"], "all")
    first = await sara.say(space, "Yes")
    second = await noor.say(space, "Fine with me", replyTo=question["id"])
    await house.until_idle()
    assert await house.deliveries(first) == await house.deliveries(second) == [("Asker", "collected")]
    assert [run["status"] for run in await house.runs(asker)] == ["waiting_reply"]
    house.model.script = sequence(say("Shipped."))
    last = await lina.say(space, "Go")
    await house.until_idle()
    [run] = await house.runs(asker)
    assert run["status"] == "completed"
    assert await house.deliveries(last) == [("Asker", "done")]
    lines = timeline(house.invocations("Asker")[-1])
    assert lines[1] == ('You: called send_message("Ship it?", wait: {"from":["Sara","noor","Lina"],"need":"all"})')
    assert lines[2:] == [
        'Sara: "Yes"  [NEW] ← ANSWER 1 of 3',
        f'Noor: "Fine with me" (in reply to msg:{question["id"]})  [NEW] ← ANSWER 2 of 3',
        'Lina: "Go"  [NEW] ← RESUME: 3 of 3 answered. Continue from here.',
    ]
    [waited] = [step for step in await house.owner.ok("GET", f"/api/runs/{run['id']}/steps") if step["n"] == 1]
    assert [each["name"] for each in waited["output"]["answers"]] == ["Sara", "Noor", "Lina"]


async def test_w2_others_trigger_as_usual_and_a_members_second_message_does_too(house: House) -> None:
    asker, space, [sara, noor, _], _ = await ask(
        house, "Sara", "Noor", "Lina", wait={"from": ["Sara", "Noor"], "need": 2}
    )
    house.model.script = by_agent({})
    await house.owner.say(space, "What is this about?")
    await sara.say(space, "Yes")
    again = await sara.say(space, "Really")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["waiting_reply", "completed", "completed"]
    assert await house.deliveries(again) == [("Asker", "passed")]
    # Other runs are told whom this one waits for.
    assert any("(waiting for Sara, Noor)" in line for line in block(house.invocations("Asker")[-1], "ACTIVE RUNS"))
    await noor.say(space, "Yes")
    await house.until_idle()
    assert (await house.runs(asker))[0]["status"] == "completed"


async def test_w1_any_three_of_a_space_and_within_a_time_of_its_own(house: House) -> None:
    asker, space, [sara, noor], _ = await ask(house, "Sara", "Noor", wait={"need": 3, "within": "2 hours"})
    [run] = await house.runs(asker)
    assert run["wait"]["timeoutSeconds"] == 7200
    for person in (sara, noor, house.owner):
        assert (await house.runs(asker))[0]["status"] == "waiting_reply"
        await person.say(space, "Yes")
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["completed"]


async def test_w5_a_timeout_tells_what_came_in_and_who_is_missing(house: House) -> None:
    asker, space, [sara, noor, _], _ = await ask(
        house, "Sara", "Noor", "Lina", wait={"from": ["Sara", "Noor", "Lina"], "need": "all"}
    )
    await noor.say(space, "Yes")
    await sara.say(space, "No")
    await house.until_idle()
    house.model.script = by_agent({})
    house.advance(301)
    await until_resumed(house, "Asker")
    lines = timeline(house.invocations("Asker")[-1])
    assert lines[-3:] == [
        'Noor: "Yes"  [NEW] ← ANSWER 1 of 3',
        'Sara: "No"  [NEW] ← ANSWER 2 of 3',
        "← RESUME: timeout, 2 of 3 answered (no answer from Lina). Continue from here.",
    ]
    [run] = await house.runs(asker)
    assert run["status"] == "completed"


@pytest.mark.parametrize(
    ("wait", "problem"),
    [
        ({"from": ["Sara", "Zed"]}, "Zed in from is not a member"),
        ({"from": ["Vera"]}, "Vera in from has read-only access"),
        ({"from": ["Asker"]}, "from contains yourself"),
        ({"need": "all"}, 'need: "all" requires from'),
        ({"from": ["Sara", "sara"], "need": 2}, "need is 2, but from has 1 member"),
        ({"need": 9}, "only 3 members of this space could answer it, and need is 9"),
        ({"within": "soon"}, "within should be a whole number"),
        ({"within": "2 weeks"}, "within is longer than a week"),
        ({"from": [], "need": 1}, "wait"),
        ({"need": 0}, "wait"),
    ],
)
async def test_w2_w3_w8_an_impossible_wait_is_refused_and_nothing_is_sent(
    house: House, wait: Any, problem: str
) -> None:
    asker, sara, vera, noor = await house.agent("Asker"), *[await house.person(n) for n in ("Sara", "Vera", "Noor")]
    space = await house.space("Project Alpha", asker, sara, noor)
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": vera.id, "role": "viewer"})
    error = await refused(house, space, wait)
    assert problem in error
    [run] = await house.runs(asker)
    assert (run["status"], run["wait"]) == ("completed", None)


async def test_w8_an_agent_can_answer_only_if_the_question_wakes_it(house: House) -> None:
    asker, guide = await house.agent("Asker"), await house.agent("Guide")
    space = await house.space("Project Alpha", asker, guide, triggers="mentioned")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": guide.id, "role": "admin"})
    house.model.script = by_agent(
        {
            "Asker": [
                call("enter_space", spaceId=space),
                say("Is it fine?", wait=True),
                say("Is it fine?", wait={"from": ["Guide"]}),
            ],
            "Guide": [say("It is.")],
        }
    )
    await house.remove(space, house.owner)
    await house.tell(asker)
    await house.until_idle()
    assert "no member of this space could answer it" in house.asked("Asker")[2].results[-1]["error"]
    texts = [each["text"] for each in (await guide.ok("GET", f"/api/spaces/{space}/messages"))["messages"]]
    assert texts == ["Is it fine?", "It is."]
    [run] = await house.runs(asker)
    assert run["status"] == "completed"


async def test_w7_three_quick_votes_are_one_run(house: House) -> None:
    asker, space, people, _ = await ask(house, "Sara", "Noor", "Lina")
    worker = house.world.gateway.worker
    assert worker is not None

    def vote(tx: Tx) -> None:
        """All three before any claim, as on a busy server."""
        for person in people:
            post_message(tx, as_caller(person), space, Draft("Yes"))
        post_message(tx, as_caller(people[0]), space, Draft("@Noor lunch?"))

    await house.world.gateway.db.write(vote)
    house.model.script = by_agent({"Asker": [say("Thanks, all.")]})
    worker.wake()
    await house.until_idle()
    runs = await house.runs(asker)
    # The remark to Noor triggers as usual.
    assert [run["trigger"]["text"] for run in runs] == ["Ask them", "@Noor lunch?"]
    votes = (await house.owner.history(space))["messages"][2:5]
    assert [await house.deliveries(each) for each in votes] == [[("Asker", "done")]] * 3
    resumed = next(asked for asked in house.invocations("Asker") if "RESUME" in asked.text)
    assert timeline(resumed)[2:5] == [
        'Sara: "Yes"  [NEW] ← RESUME: Sara replied. Continue from here.',
        'Noor: "Yes"  [NEW]',
        'Lina: "Yes"  [NEW]',
    ]


async def test_w9_a_named_member_who_leaves_is_struck(house: House) -> None:
    """The wait completes with the answers of the rest."""
    asker, space, [sara, noor], _ = await ask(house, "Sara", "Noor", wait={"from": ["Sara", "Noor"], "need": "all"})
    await sara.say(space, "Yes")
    await house.until_idle()
    house.model.script = by_agent({})
    await house.remove(space, noor)
    await house.until_idle()
    assert [run["status"] for run in await house.runs(asker)] == ["completed"]
    assert timeline(house.invocations("Asker")[-1])[-1] == (
        'Sara: "Yes"  [NEW] ← RESUME: Sara replied. Continue from here.'
    )


async def test_w9_a_wait_that_can_no_longer_be_met_ends_with_the_reason(house: House) -> None:
    asker, space, [sara, noor], _ = await ask(house, "Sara", "Noor", wait={"from": ["Sara", "Noor"], "need": 2})
    await sara.say(space, "Yes")
    await house.until_idle()
    house.model.script = by_agent({})
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": noor.id, "role": "viewer"})
    await house.until_idle()
    assert timeline(house.invocations("Asker")[-1])[-1] == (
        "← RESUME: Noor left this space, 1 of 2 answered (no answer from Noor). Continue from here."
    )
    [run] = await house.runs(asker)
    assert run["status"] == "completed"


async def test_w9_m12_a_ring_of_agents_that_name_each_other_is_a_deadlock_among_people_too(house: House) -> None:
    ann, bob = await house.agent("Ann"), await house.agent("Bob")
    space = await house.space("Project Alpha", ann, bob)

    def script(asked: Asked) -> Reply:
        if "RESUME" in asked.text:
            return silent()
        if asked.agent == "Ann" and asked.trigger_text == "go":
            return say("You first, Bob", wait={"from": ["Bob"]})
        if asked.agent == "Bob" and asked.trigger_text == "You first, Bob":
            return call("send_message", text="No, Ann", wait={"from": ["Ann"]}, messageId=go["id"])
        return silent()

    house.model.script = script
    go = await house.owner.say(space, "go")
    await house.until_waiting(2)
    house.advance(1)
    await until_resumed(house, "Bob")
    assert "deadlock" in timeline(house.invocations("Bob")[-1])[-1]
    assert next(run["status"] for run in await house.runs(ann)) == "waiting_reply"


async def test_w4_m8_two_answers_on_two_nodes_complete_a_wait_once(house: House) -> None:
    """Each posts in a transaction of its own at the same moment, together with the timeout."""
    asker, space, [sara, noor], _ = await ask(house, "Sara", "Noor", wait={"from": ["Sara", "Noor"], "need": "all"})
    db = house.world.gateway.db
    house.model.script = by_agent({})

    def post(tx: Tx, person: Person) -> None:
        post_message(tx, as_caller(person), space, Draft("Yes"))

    await asyncio.gather(db.write(post, sara), db.write(post, noor), db.write(time_out), db.write(time_out))
    worker = house.world.gateway.worker
    assert worker is not None
    worker.wake()
    await house.until_idle()
    [run] = await house.runs(asker)
    assert run["status"] == "completed"
    assert len([asked for asked in house.invocations("Asker") if "RESUME: 2 of 2 answered" in asked.text]) == 1
    answers = (await house.owner.history(space))["messages"][2:]
    assert sorted([await house.deliveries(each) for each in answers]) == [[("Asker", "collected")], [("Asker", "done")]]


async def test_w5_an_answer_that_races_the_timeout_is_never_lost(house: House) -> None:
    """Either it is collected before the timeout, and shown as an answer, or it triggers a run of its own."""
    asker, space, [sara, _], _ = await ask(house, "Sara", "Noor", wait={"from": ["Sara", "Noor"], "need": "all"})
    db = house.world.gateway.db
    house.model.script = by_agent({})
    house.advance(301)

    def post(tx: Tx) -> None:
        post_message(tx, as_caller(sara), space, Draft("Yes"))

    await asyncio.gather(db.write(post), db.write(time_out))
    await until_resumed(house, "Asker")
    answer = (await house.owner.history(space))["messages"][2]
    [(_, state)] = await house.deliveries(answer)
    runs = await house.runs(asker)
    shown = [line for asked in house.invocations("Asker") for line in timeline(asked) if "ANSWER 1 of 2" in line]
    assert (state, len(runs), bool(shown)) in [("collected", 1, True), ("passed", 2, False)]


async def test_w10_open_waits_tell_who_waits_for_whom_and_what_came_in(house: House) -> None:
    wait = {"from": ["Sara", "Noor"], "need": "all", "within": "1 hour"}
    asker = await house.agent("Asker")
    sara, noor, lina = [await house.person(name) for name in ("Sara", "Noor", "Lina")]
    space = await house.space("Project Alpha", asker, sara, noor)
    house.model.script = sequence(say("Ship it?", wait=wait))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Ask them")
        opened = (await follower.until("wait.updated")).data
        await house.until_waiting()
        answer = await sara.say(space, "Yes")
        updated = (await follower.until("wait.updated")).data
        [listed] = (await noor.ok("GET", "/api/waits"))["waits"]
        assert [await each.ok("GET", "/api/waits", **{"for": "me"}) for each in (sara, house.owner, lina)] == [
            {"waits": []}
        ] * 3
        assert (await noor.ok("GET", "/api/waits", **{"for": "me", "spaceId": space}))["waits"] == [listed]
        house.model.script = by_agent({})
        await noor.say(space, "No")
        closed = (await follower.until("wait.updated")).data
    [run] = await house.runs(asker)
    answered = [{"entityId": sara.id, "messageId": answer["id"]}]
    question = (await house.owner.history(space))["messages"][1]
    assert {name: listed[name] for name in listed if name not in ("startedAt", "expiresAt")} == {
        "id": opened["id"],
        "kind": "reply",
        "runId": run["id"],
        "agentId": asker.id,
        "agentName": "Asker",
        "spaceId": space,
        "messageId": question["id"],
        "question": "Ship it?",
        "from": [sara.id, noor.id],
        "fromNames": ["Sara", "Noor"],
        "need": 2,
        "answered": answered,
    }
    assert (opened["open"], opened["answered"]) == (True, [])
    assert (updated["open"], updated["answered"]) == (True, answered)
    assert (closed["open"], len(closed["answered"])) == (False, 2)
    await house.until_idle()
    assert await noor.ok("GET", "/api/waits") == {"waits": []}
    assert (await lina.get("/api/waits", spaceId=space)).status_code == 404
