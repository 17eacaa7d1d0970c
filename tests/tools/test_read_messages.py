"""Behaviour M13: `read_messages` pages back through a space that the agent may read."""

from __future__ import annotations

from typing import Any

from tests.model_server import call, calls, sequence, silent
from tests.runs.house import House


async def read(house: House, *asked: dict[str, Any], said: int = 7) -> tuple[str, list[Any]]:
    """A space with this many messages, and the results of the calls in a run without an active space."""
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    for n in range(1, said + 1):
        await house.owner.say(space, f"message {n}")
    reads = [("read_messages", {"spaceId": space, **each}) for each in asked]
    house.model.script = sequence(calls(*reads), silent())
    await house.tell(scout)
    await house.until_idle()
    return space, house.model.asked[1].results


def texts(result: Any) -> list[int]:
    return [int(line["text"].removeprefix("message ")) for line in result["messages"]]


async def test_m13_offset_counts_from_the_newest_and_pages_are_oldest_first(house: House) -> None:
    pages: list[dict[str, Any]] = [{"limit": 3, "offset": offset} for offset in (0, 3, 6, 9)]
    space, results = await read(house, *pages)
    assert [texts(result) for result in results] == [[5, 6, 7], [2, 3, 4], [1], []]
    for result in results:
        assert (result["success"], result["total"]) == (True, 7)
        assert (result["spaceId"], result["spaceName"]) == (space, "Project Alpha")


async def test_m13_fifty_from_the_newest_unless_asked_otherwise(house: House) -> None:
    _, [result] = await read(house, {}, said=53)
    assert texts(result) == list(range(4, 54))
    assert result["total"] == 53


async def test_f8_own_messages_are_marked(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(
        call("send_message", text="mine"), call("read_messages"), call("search_messages", query="mine"), silent()
    )
    await house.owner.say(space, "not mine")
    await house.until_idle()
    _, page, found = house.model.asked[-1].results
    assert [line["sender"].get("you") for line in page["messages"]] == [None, True]
    assert any(line["sender"].get("you") for line in found["messages"])


async def test_m13_nonsense_is_an_error_that_says_what_is_wrong(house: House) -> None:
    _, results = await read(house, {"limit": 0}, {"limit": 201}, {"offset": -1}, {"limit": "many"}, {"page": 2}, said=1)
    assert [result["success"] for result in results] == [False] * 5
    assert all(result["error"].startswith("read_messages was not called") for result in results)
    for name, result in zip(("limit", "limit", "offset", "limit", "page"), results, strict=True):
        assert name in result["error"]


async def test_m13_the_active_space_is_read_by_default_and_another_without_going_there(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta", scout, triggers="mentioned")
    await house.owner.say(beta, "said in Beta")
    house.model.script = sequence(
        call("read_messages"),
        call("read_messages", spaceId=beta),
        call("send_message", text="still in Alpha"),
        silent(),
    )
    await house.owner.say(alpha, "said in Alpha")
    await house.until_idle()
    here, there, _ = house.model.asked[3].results
    assert [line["text"] for line in here["messages"]] == ["said in Alpha"]
    assert [line["text"] for line in there["messages"]] == ["said in Beta"]
    assert await house.texts(alpha) == [("Owner", "said in Alpha"), ("Scout", "still in Alpha")]
    [run] = await house.runs()
    assert run["activeSpaceId"] == alpha


async def test_m13_a_space_of_others_is_refused(house: House) -> None:
    scout = await house.agent("Scout")
    alpha, beta = await house.space("Alpha", scout), await house.space("Beta")
    await house.owner.say(beta, "a secret")
    house.model.script = sequence(call("read_messages", spaceId=beta), silent())
    await house.owner.say(alpha, "read Beta")
    await house.until_idle()
    assert house.model.asked[1].results == [
        {
            "success": False,
            "error": f"Nothing was read: you are not a member of {beta}. "
            "Your spaces and their ids are under YOUR SPACES.",
        }
    ]


async def test_m13_answers_and_tool_uses_are_told_apart(house: House) -> None:
    tool = {"name": "advise", "type": "static", "visible": True, "execution": {"output": "sleep on it"}}
    scout = await house.agent("Scout", tools=[tool])
    space = await house.space("Alpha", scout)
    first = await house.owner.say(space, "first")
    await house.until_idle()
    house.model.script = sequence(call("advise"), call("read_messages"), silent())
    await house.owner.say(space, "second", replyTo=first["id"])
    await house.until_idle()
    lines = house.model.asked[-1].results[1]["messages"]
    assert [line.get("replyTo") for line in lines] == [None, first["id"], None]
    assert [line.get("kind") for line in lines] == [None, None, "tool"]
    assert lines[2]["tool"]["output"] == "sleep on it"


async def test_m13_c2_long_messages_return_the_newest_and_say_how_to_read_the_rest(house: House) -> None:
    """Regression: the result was truncated at its end, with the newest messages, which still counted as shown."""
    scout = await house.agent("Scout", contextTokens=200_000)
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    for n in range(1, 13):
        await house.owner.say(space, f"{n} {'long ' * 1600}")
    house.model.script = sequence(
        call("enter_space", spaceId=space), call("read_messages", offset=7), call("read_messages", limit=2), silent()
    )
    await house.tell(scout)
    await house.until_idle()
    entered, older, few = house.model.asked[-1].results
    assert (entered["success"], entered["totalMessages"]) == (True, 12)
    assert _numbers(entered["history"]) == [6, 7, 8, 9, 10, 11, 12]
    left_out = "5 earlier messages omitted: the result would be too long. Call read_messages with offset 7 to continue."
    assert entered["note"] == left_out
    assert _numbers(older["messages"]) == [1, 2, 3, 4, 5]
    assert _numbers(few["messages"]) == [11, 12]
    assert "note" not in older
    assert "note" not in few


async def test_m13_a_message_too_long_for_any_result_is_cut_and_says_so(house: House) -> None:
    """A control character takes six characters in JSON."""
    scout = await house.agent("Scout", contextTokens=200_000)
    space = await house.space("Project Alpha", scout, triggers="mentioned")
    await house.owner.say(space, "before")
    await house.owner.say(space, "\u0001" * 60_000)
    house.model.script = sequence(call("read_messages", spaceId=space), silent())
    await house.tell(scout)
    await house.until_idle()
    [result] = house.model.asked[-1].results
    [line] = result["messages"]
    shown = len(line["text"])
    assert line["text"] == "\u0001" * shown
    assert 5_000 < shown < 11_000
    assert line["cut"] == f"the first {shown} of 60000 characters"
    assert result["note"] == (
        "1 earlier message omitted: the result would be too long. Call read_messages with offset 1 to continue."
    )


def _numbers(lines: list[Any]) -> list[int]:
    return [int(line["text"].split()[0]) for line in lines]
