"""L1, L2, L3 for agents: lines that were shown stay, an edit is a new line, a deleted message has no words."""

from __future__ import annotations

import itertools
import random
import re
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import majlis.erase
from majlis import clock
from majlis.settings import Settings
from majlis.store.tables import cycles, erasures, events, messages, runs, steps, versions, views
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import Asked, Reply, call, say, sequence, silent
from tests.runs.cards import card_in, submit
from tests.runs.house import House, open_house

# Copies are removed in passes, seconds apart.
pytestmark = pytest.mark.usefixtures("standing_clock", "erase_often")

SECRET = "The vault code is zyxwv-48151623-quintessence."


@pytest.fixture
def erase_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(majlis.erase, "_EVERY_SECONDS", 0.05)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as opened:
        yield opened


def _shared(before: str, after: str) -> int:
    """The length of the beginning that they share."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _prompt(asked: Any) -> str:
    return "\n".join(str(message.get("content")) for message in asked.messages)


async def test_l1_an_agent_that_saw_the_message_gets_a_new_line_and_others_the_new_text(house: House) -> None:
    ada = await house.agent("Ada")
    space = await house.space("Plans", ada)
    first = await house.owner.say(space, "The meeting is on Monday.")
    await house.until_idle()
    bob = await house.agent("Bob")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": bob.id})
    edited = await house.owner.ok("PATCH", f"/api/messages/{first['id']}", {"text": "The meeting is on Friday."})
    assert edited["revision"] == 1
    await house.until_idle()
    assert len(await house.runs()) == 1
    await house.owner.say(space, "Clear?")
    await house.until_idle()
    await house.owner.say(space, "Really?")
    await house.until_idle()
    once, second, third = (_prompt(asked) for asked in house.asked("Ada"))
    assert 'edited: "The meeting is on Friday."' in second
    assert '"The meeting is on Monday."' in second
    seen = second[: second.index("Clear?")]
    assert third.startswith(seen), "the edit broke the prefix"
    line = next(line for line in once.splitlines() if "Monday" in line and "[msg:" in line)
    assert line.partition("  [NEW]")[0] in second
    bobs = _prompt(house.asked("Bob")[0])
    assert '"The meeting is on Friday."' in bobs
    assert "Monday" not in bobs
    assert "edited:" not in bobs


@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_l1_x8_requests_share_nine_tenths_with_the_one_before_also_when_messages_are_edited(
    house: House, mind: str
) -> None:
    """In characters, as the body is sent: tools first. A deletion has to change its line, so there is none here."""
    chance = random.Random(5)
    ada = await house.agent("Ada", mind=mind)
    space = await house.space("Plans", ada)
    house.model.script = lambda asked: silent() if asked.step else say("I have written it down.")
    said = []
    for n in range(14):
        said.append(
            await house.owner.say(space, f"Point {n}: " + "we should look at it again. " * chance.randint(1, 8))
        )
        await house.until_idle()
        of = chance.choice(said)["id"]
        await house.owner.ok("PATCH", f"/api/messages/{of}", {"text": f"Point {n}, corrected."})
        await house.owner.ok("PUT", f"/api/messages/{chance.choice(said)['id']}/reactions/🎉")
        await house.until_idle()
    bodies = [f"{asked.body['tools']}{asked.messages}" for asked in house.invocations("Ada")]
    assert len(bodies) == 14
    shares = [_shared(*pair) / len(pair[1]) for pair in itertools.pairwise(bodies)]
    assert sum(shares) / len(shares) >= 0.9, shares


@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_l3_reactions_do_not_change_the_lines_before_them(house: House, mind: str) -> None:
    ada = await house.agent("Ada", mind=mind)
    space = await house.space("Plans", ada)
    first = await house.owner.say(space, "Shall we?")
    await house.until_idle()
    await house.owner.ok("PUT", f"/api/messages/{first['id']}/reactions/🎉")
    await house.until_idle()
    assert len(await house.runs()) == 1
    await house.owner.say(space, "And now?")
    await house.until_idle()
    before, after = (_prompt(asked) for asked in house.asked("Ada"))
    assert "REACTIONS:" not in before
    assert f"msg:{first['id']}: 🎉" in after
    assert after.index("Shall we?") < after.index("REACTIONS:")


async def test_l1_an_agent_with_roles_sees_the_edit_where_it_happened(house: House) -> None:
    ada = await house.agent("Ada", mind="roles")
    space = await house.space("Plans", ada)
    first = await house.owner.say(space, "On Monday.")
    await house.until_idle()
    await house.owner.ok("PATCH", f"/api/messages/{first['id']}", {"text": "On Friday."})
    await house.owner.say(space, "Clear?")
    await house.until_idle()
    shown = _prompt(house.asked("Ada")[-1])
    assert shown.index("On Monday.") < shown.index("EDITED msg:") < shown.index("On Friday.") < shown.index("Clear?")


async def test_l3_agents_react_edit_and_delete_with_tools(house: House) -> None:
    ada = await house.agent("Ada")
    space = await house.space("Plans", ada)
    mine: list[str] = []

    def script(asked: Asked) -> Reply:
        match asked.step:
            case 0:
                return call("react", messageId=_trigger(asked), emoji="👍")
            case 1:
                return say("Draft one")
            case 2:
                mine.append(asked.results[-1]["messageId"])
                return call("edit_message", messageId=mine[0], text="Draft two")
            case 3:
                return call("delete_message", messageId=_trigger(asked))
            case 4:
                return say("Oops")
            case 5:
                return call("delete_message", messageId=asked.results[-1]["messageId"])
        return silent()

    house.model.script = script
    message = await house.owner.say(space, "Seen?")
    await house.until_idle()
    stored = await house.owner.ok("GET", f"/api/messages/{message['id']}")
    assert stored["reactions"] == [{"emoji": "👍", "count": 1, "entityIds": [ada.id]}]
    assert [text for _, text in await house.texts(space)] == ["Seen?", "Draft two", ""]
    assert "only delete your own" in str(house.model.asked[4].results[-1])


def _trigger(asked: Asked) -> str:
    found = re.search(r"messageId: (msg_\w+)", asked.text)
    assert found
    return found[1]


async def test_l2_a_deleted_message_wakes_no_agent_and_has_no_text(house: House) -> None:
    ada = await house.agent("Ada")
    space = await house.space("Plans", ada)
    await house.owner.ok("POST", f"/api/spaces/{space}/pause")
    secret = await house.owner.say(space, SECRET)
    await house.owner.ok("DELETE", f"/api/messages/{secret['id']}")
    assert await house.deliveries(secret) == [("Ada", "withdrawn")]
    await house.owner.ok("DELETE", f"/api/spaces/{space}/pause")
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [asked] = house.model.asked
    assert "zyxwv" not in asked.text
    assert f"(deleted by {house.owner.name})" in asked.text


@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_l2_no_stored_copy_of_a_deleted_message_is_left(house: House, mind: str) -> None:
    ada = await house.agent("Ada", mind=mind)
    space = await house.space("Plans", ada)
    house.model.script = sequence(call("read_messages", spaceId=space), silent("Noted."))
    secret = await house.owner.say(space, SECRET)
    await house.until_idle()
    edited = await house.owner.ok("PATCH", f"/api/messages/{secret['id']}", {"text": f"{SECRET} Really."})
    assert await house.world.gateway.db.read(_where_it_is)
    house.model.script = sequence(call("enter_space", spaceId=space), silent("Noted."))
    await house.owner.say(space, f"See msg:{edited['id']}")
    await house.until_idle()
    await house.owner.ok("DELETE", f"/api/messages/{secret['id']}")
    db = house.world.gateway.db

    async def is_gone() -> bool:
        if clock.stands_still():
            house.advance(2)
        return not await db.read(_where_it_is)

    await until(is_gone)
    [first, *_] = await house.runs(ada)
    assert (first["trigger"].get("events") or [first["trigger"]])[0]["text"] == "[deleted]"
    house.model.script = sequence()
    await house.owner.say(space, "And now?")
    await house.until_idle()
    assert "zyxwv" not in house.model.asked[-1].text


@pytest.mark.parametrize("policy", [[], [{"tools": "send_message", "do": "ask"}]])
async def test_l2_no_copy_is_left_of_a_message_that_was_held_or_approved_first(house: House, policy: list[Any]) -> None:
    """Its text is also in the call that was held (E8), and on the card of the approval (G5)."""
    ada = await house.agent("Ada", policy=policy, limits={"concurrentRuns": 1})
    space = await house.space("Plans", ada)

    async def script(asked: Asked) -> Reply:
        if asked.trigger_text != "The code?" or "RESUME" in asked.text or asked.step:
            return silent()
        if not policy and not asked.results:
            await house.owner.say(space, "Please.")
        return say(SECRET)

    house.model.script = script
    await house.owner.say(space, "The code?")
    if policy:
        await house.until_waiting()
        assert (await submit(house.owner, await card_in(house, space), {"approved": True})).status_code == 200
    await house.until_idle()
    page = await house.owner.history(space)
    [posted] = [each for each in page["messages"] if each["text"] == SECRET]
    await house.owner.ok("DELETE", f"/api/messages/{posted['id']}")
    db = house.world.gateway.db

    async def is_gone() -> bool:
        if clock.stands_still():
            house.advance(2)
        return not await db.read(_where_it_is)

    await until(is_gone)


def _where_it_is(tx: Tx) -> list[str]:
    """The tables in which the text, or a part of it, is found."""
    found = []
    for table in (messages, versions, erasures, events, runs, steps, cycles, views):
        for row in tx.all(sa.select(table)):
            body = zlib.decompress(row.body).decode() if table is views else ""
            if "zyxwv" in f"{row._mapping!r}{body}":
                found.append(table.name)
    return found


async def test_w9_a_wait_ends_when_its_question_is_deleted(house: House) -> None:
    ada = await house.agent("Ada")
    space = await house.space("Plans", ada)
    house.model.script = sequence(say("Which one?", wait=True), silent())
    await house.owner.say(space, "Choose")
    await house.until_waiting()
    question = (await house.owner.history(space))["messages"][-1]
    await house.owner.ok("DELETE", f"/api/messages/{question['id']}")
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "completed"
    resumed = house.invocations("Ada")[-1].text
    assert "← RESUME: withdrawn, your question was deleted. Continue from here." in resumed
    assert await _result_of_wait(house, run) == {"success": True, "messageId": question["id"], "status": "withdrawn"}


async def test_w9_a_deleted_question_keeps_the_answers_that_it_has(house: House) -> None:
    husam, sara = await house.person("Husam"), await house.person("Sara")
    ada = await house.agent("Ada")
    space = await house.space("Plans", ada, husam, sara)
    house.model.script = sequence(say("Which one?", wait={"from": ["Husam", "Sara"], "need": "all"}), silent())
    await house.owner.say(space, "Choose")
    await house.until_waiting()
    question = (await house.owner.history(space))["messages"][-1]
    await sara.say(space, "The first one")
    await house.owner.ok("DELETE", f"/api/messages/{question['id']}")
    await house.until_idle()
    resumed = house.invocations("Ada")[-1].text
    assert "← ANSWER 1 of 2" in resumed
    assert "← RESUME: withdrawn, your question was deleted, 1 of 2 answered. Continue from here." in resumed
    [run] = await house.runs()
    assert (await _result_of_wait(house, run))["missing"] == ["Husam"]


async def _result_of_wait(house: House, run: Any) -> Any:
    steps = await house.owner.ok("GET", f"/api/runs/{run['id']}/steps")
    [output] = [step["output"] for step in steps if step.get("name") == "send_message"]
    return output


async def test_l2_on_sqlite_no_file_contains_the_text(house: House, settings: Settings) -> None:
    if not settings.database.startswith("sqlite"):
        pytest.skip("the files of PostgreSQL keep earlier versions until vacuum")
    ada = await house.agent("Ada")
    space = await house.space("Plans", ada)
    for n in range(60):
        await house.owner.say(space, f"Message {n} {'x' * 500}", mentions=[])
    secret = await house.owner.say(space, f"{SECRET} {'padding ' * 800}")
    await house.until_idle()
    folder = Path(sa.make_url(settings.database).database or "").parent
    assert _files_with(folder, b"zyxwv")
    await house.owner.ok("DELETE", f"/api/messages/{secret['id']}")

    async def is_gone() -> bool:
        if clock.stands_still():
            house.advance(2)
        return not _files_with(folder, b"zyxwv") and not _files_with(folder, b"quintessence")

    await until(is_gone)


def _files_with(folder: Path, words: bytes) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and words in file.read_bytes()]
