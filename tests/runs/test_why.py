"""Behaviour F6: a message can be followed back to what caused it."""

from __future__ import annotations

from typing import Any

from tests.api.test_bad_input import assert_error
from tests.conditions import until
from tests.model_server import call, say, sequence, silent
from tests.runs.house import House
from tests.world import Person


async def why(reader: Person, message: Any) -> list[Any]:
    return list((await reader.ok("GET", f"/api/messages/{message['id']}/why"))["hops"])


async def last_message(reader: Person, space: str) -> Any:
    return (await reader.ok("GET", f"/api/spaces/{space}/messages", limit=1))["messages"][-1]


async def test_f6_a_message_elsewhere_leads_back_to_the_person_who_asked(house: House) -> None:
    scout = await house.agent("Scout", actsFor="itself")
    sara = await house.person("Sara")
    lounge, board = await house.space("Lounge", scout), await house.space("Board", scout, triggers="mentioned")
    await house.owner.ok("POST", f"/api/spaces/{board}/members", {"entityId": sara.id})
    house.model.script = sequence(call("enter_space", spaceId=board), call("send_message", text="News!"), silent())
    asked = await house.owner.say(lounge, "Tell the board. " + "x" * 400)
    await house.until_idle()
    posted = await last_message(house.owner, board)
    assert posted["text"] == "News!"
    [hop] = await why(house.owner, posted)
    assert hop == {
        "kind": "message",
        "hidden": False,
        "messageId": asked["id"],
        "spaceId": lounge,
        "spaceName": "Lounge",
        "sender": asked["sender"],
        "text": f"{asked['text'][:300]}…",
    }
    # Sara is only in the other space.
    assert await why(sara, posted) == [{"kind": "message", "hidden": True}]
    assert await why(house.owner, asked) == []
    assert_error(await sara.http.get(f"/api/messages/{asked['id']}/why"), 404, "unknown_message")


async def test_f6_hop_by_hop_nearest_first(house: House) -> None:
    one, two = await house.agent("One"), await house.agent("Two")
    room = await house.space("Room", one, two, triggers="mentioned")
    house.model.script = lambda asked: (
        say("@Two your turn") if asked.agent == "One" and asked.step == 0
        else say("Done.") if asked.agent == "Two" and asked.step == 0
        else silent()
    )  # fmt: skip
    first = await house.owner.say(room, "@One start")
    await house.until_idle()
    last = await last_message(house.owner, room)
    assert last["text"] == "Done."
    assert [(hop["sender"]["name"], hop["text"]) for hop in await why(house.owner, last)] == [
        ("One", "@Two your turn"),
        ("Owner", first["text"]),
    ]


async def test_f6_an_event_of_a_service_is_for_admins_and_the_agent_says_it_itself(house: House) -> None:
    scout, sara = await house.agent("Scout", actsFor="itself"), await house.person("Sara")
    room = await house.space("Room", scout, sara, triggers="mentioned")
    house.model.script = sequence(call("enter_space", spaceId=room), call("send_message", text="An order!"), silent())
    await house.tell(scout, {"order": 7})
    await house.until_idle()
    posted = await last_message(house.owner, room)
    assert await why(house.owner, posted) == [{"kind": "service", "hidden": False, "text": 'Shop: {"order":7}'}]
    assert await why(sara, posted) == [{"kind": "service", "hidden": True}]
    # Everyone sees what kind of event it was.
    assert posted["origin"] == {"kind": "service"}
    # Asked about it, the agent sees the reason in its own line and with its tool.
    house.model.script = sequence(call("explain_message", messageId=f"msg:{posted['id']}"), silent())
    await sara.say(room, "@Scout why did you post that?")
    await house.until_idle()
    shown = house.invocations("Scout")[-1].text
    assert 'You: [sent because of an event of a service "Shop"]' in shown
    assert house.model.asked[-1].results[-1]["hops"] == [
        {"kind": "service", "hidden": False, "text": 'Shop: {"order":7}'}
    ]


async def test_f6_a_plan_leads_back_to_the_person_who_had_it_made(house: House) -> None:
    scout = await house.agent("Scout")
    room = await house.space("Room", scout)
    plan = {"name": "Digest", "instruction": "Post the digest", "runAfter": "1 second"}
    house.model.script = lambda asked: (
        say("The digest.") if "type: plan" in asked.text and asked.step == 1
        else call("enter_space", spaceId=room) if "type: plan" in asked.text and asked.step == 0
        else call("set_plans", plans=[plan]) if "type: plan" not in asked.text and asked.step == 0
        else silent()
    )  # fmt: skip
    asked = await house.owner.say(room, "Make a digest")
    await house.until_idle()
    [run] = await house.runs(scout)
    assert run["status"] == "completed"
    hops = await _when_posted(house, room)
    assert [hop["kind"] for hop in hops] == ["plan", "message"]
    assert (hops[0]["text"], hops[1]["messageId"]) == ("Digest: Post the digest", asked["id"])


async def _when_posted(house: House, room: str) -> list[Any]:
    async def posted() -> bool:
        return bool((await last_message(house.owner, room))["text"] == "The digest.")

    await until(posted)
    assert (await last_message(house.owner, room))["origin"] == {"kind": "plan"}
    return await why(house.owner, await last_message(house.owner, room))
