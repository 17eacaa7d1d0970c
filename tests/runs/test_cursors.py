"""C1–C3, C5: what counts as seen, and that only a completed run moves the cursor."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.model_server import Asked, Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House, says, timeline

pytestmark = pytest.mark.usefixtures("standing_clock")


async def test_c1_c2_messages_shown_to_a_completed_run_are_seen_in_the_next(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    for text in ("one", "two"):
        await house.owner.say(space, text)
        await house.until_idle()
    first, second = house.model.asked
    assert timeline(first) == ['Owner: "one"  [NEW] ← TRIGGER']
    assert timeline(second) == ['Owner: "one"  [SEEN]', 'Owner: "two"  [NEW] ← TRIGGER']


async def test_c2_a_failed_run_leaves_everything_new(house: House) -> None:
    house.try_models_once()
    space = await house.space("Project Alpha", await house.agent("Scout", limits={"attempts": 1}))
    house.model.script = sequence(say("half done"), Reply(status=500), silent())
    await house.owner.say(space, "one")
    await house.until_idle()
    assert [run["status"] for run in await house.runs()] == ["failed"]
    await house.owner.say(space, "two")
    await house.until_idle()
    lines = timeline(house.model.asked[-1])
    # C3: the agent's own message counts as seen.
    assert lines[:2] == ['Owner: "one"  [NEW]', 'Scout: "half done"  [SEEN]']
    assert lines[-1] == 'Owner: "two"  [NEW] ← TRIGGER'


async def test_c2_a_canceled_run_leaves_everything_new(house: House) -> None:
    space = await house.space("Project Alpha", await house.agent("Scout"))
    stuck = silent()
    stuck.gate = asyncio.Event()
    house.model.script = sequence(stuck)
    await house.owner.say(space, "one")
    await house.model.until_asked(1)
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    await house.owner.say(space, "two")
    await house.until_idle()
    assert timeline(house.model.asked[-1]) == ['Owner: "one"  [NEW]', 'Owner: "two"  [NEW] ← TRIGGER']


async def test_c2_a_waiting_run_has_not_moved_the_cursor_yet(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Well?", wait=True))
    first = await house.owner.say(space, "one")
    await house.until_waiting()
    await house.owner.say(space, "two", replyTo=first["id"])
    await house.until_idle()
    assert timeline(house.model.asked[-1])[0] == 'Owner: "one"  [NEW]'


async def test_c2_a_message_that_came_between_perception_and_reply_is_still_new(house: House) -> None:
    scout, other = await house.agent("Scout", guard=False), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other, triggers="mentioned")

    async def meanwhile(asked: Asked) -> Reply:
        await house.owner.say(space, "said while Scout was thinking")
        return say("my reply")

    house.model.script = by_agent({"Scout": [meanwhile]})
    await house.owner.say(space, "@Scout one")
    await house.until_idle()
    await house.owner.say(space, "@Scout two")
    await house.until_idle()
    assert timeline(house.model.asked[-1]) == [
        'Owner: "@Scout one"  [SEEN]',
        'Owner: "said while Scout was thinking"  [NEW]',
        'Scout: "my reply"  [SEEN]',
        'Owner: "@Scout two"  [NEW] ← TRIGGER',
    ]


async def test_c2_messages_shown_by_enter_space_and_read_messages_are_seen(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = [await house.space(name, scout, triggers="mentioned") for name in ("Alpha", "Beta")]
    for space in (alpha, beta):
        await house.owner.say(space, "said before")
    house.model.script = sequence(call("enter_space", spaceId=alpha), call("read_messages", spaceId=beta), silent())
    await house.tell(scout)
    await house.until_idle()
    for space in (alpha, beta):
        await house.owner.say(space, "@Scout now")
        await house.until_idle()
        assert timeline(house.model.asked[-1]) == [
            'Owner: "said before"  [SEEN]',
            'Owner: "@Scout now"  [NEW] ← TRIGGER',
        ]


async def test_c2_an_older_page_alone_shows_nothing_of_what_is_newest(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Alpha", scout, triggers="mentioned")
    for n in range(3):
        await house.owner.say(space, f"message {n}")
    house.model.script = sequence(call("read_messages", spaceId=space, offset=1), silent())
    await house.tell(scout)
    await house.until_idle()
    await house.owner.say(space, "@Scout now")
    await house.until_idle()
    assert timeline(house.model.asked[-1])[2] == 'Owner: "message 2"  [NEW]'


async def test_c2_concurrent_runs_never_move_the_cursor_back(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    slow = silent()
    slow.gate = asyncio.Event()
    house.model.script = lambda asked: slow if asked.trigger_text == "one" else silent()
    await house.owner.say(space, "one")
    await house.model.until_asked(1)
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "two")
        await follower.until("run.completed")
        slow.gate.set()
        await follower.until("run.completed")
    await house.owner.say(space, "three")
    await house.until_idle()
    assert timeline(house.model.asked[-1]) == [
        'Owner: "one"  [SEEN]',
        'Owner: "two"  [SEEN]',
        'Owner: "three"  [NEW] ← TRIGGER',
    ]


async def test_c1_each_space_has_a_cursor_of_its_own(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta", scout, triggers="mentioned")
    await house.owner.say(beta, "unheard")
    await house.owner.say(alpha, "heard")
    await house.until_idle()
    await house.owner.say(beta, "@Scout now")
    await house.until_idle()
    assert timeline(house.model.asked[-1]) == ['Owner: "unheard"  [NEW]', 'Owner: "@Scout now"  [NEW] ← TRIGGER']


async def test_c5_an_agents_cursor_can_be_neither_set_nor_read(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    message = await house.owner.say(space, "unheard")
    # The agent's token can move its read position, but not the cursor of its runs.
    await scout.ok("POST", f"/api/spaces/{space}/read", {"lastMessageId": message["id"]})
    await house.owner.say(space, "@Scout now")
    await house.until_idle()
    assert timeline(house.model.asked[-1])[0] == 'Owner: "unheard"  [NEW]'
    shown = [await house.owner.ok("GET", path) for path in (f"/api/spaces/{space}", f"/api/spaces/{space}/members")]
    shown += [await scout.ok("GET", f"/api/spaces/{space}"), await house.owner.ok("GET", f"/api/agents/{scout.id}")]
    assert "processed" not in json.dumps(shown).lower()


async def test_c3_ones_own_messages_are_seen_however_they_were_sent(house: House) -> None:
    scout, other = await house.agent("Scout"), await house.agent("Other")
    space = await house.space("Project Alpha", scout, other, triggers="mentioned")
    await scout.say(space, "sent by REST")
    house.model.script = by_agent({"Scout": says("sent in a run")})
    await house.owner.say(space, "@Scout one")
    await house.until_idle()
    await house.owner.say(space, "@Scout two")
    await house.until_idle()
    own = [line for line in timeline(house.invocations("Scout")[-1]) if line.startswith("Scout:")]
    assert own == ['Scout: "sent by REST"  [SEEN]', 'Scout: "sent in a run"  [SEEN]']
