"""Behaviour F7: `search_messages` finds messages that the run's person may read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_server import call, sequence, silent
from tests.runs.house import House
from tests.runs.test_acts_for import agent, board_and_lounge, results


async def search(house: House, *asked: dict[str, Any]) -> tuple[str, str, list[Any]]:
    """Two spaces with messages, and the results of the calls in a run without an active space."""
    scout = await house.agent("Scout")
    alpha = await house.space("Alpha", scout, triggers="mentioned")
    beta = await house.space("Beta", scout, triggers="mentioned")
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{beta}/members", {"entityId": sara.id})
    await house.owner.say(alpha, "We deploy on Friday.")
    await sara.say(beta, "Who deployed the shop?")
    await house.owner.say(beta, "Nothing to see here.")
    house.model.script = sequence(*(call("search_messages", **each) for each in asked), silent())
    await house.tell(scout)
    await house.until_idle()
    return alpha, beta, house.model.asked[-1].results


def texts(result: Any) -> list[str]:
    return [line["text"] for line in result["messages"]]


async def test_f7_finds_words_in_all_spaces_of_the_agent_oldest_first(house: House) -> None:
    alpha, beta, [found, last] = await search(house, {"query": "deploy"}, {"query": "deploy", "limit": 1})
    assert texts(found) == ["We deploy on Friday.", "Who deployed the shop?"]
    assert [(line["spaceId"], line["spaceName"]) for line in found["messages"]] == [(alpha, "Alpha"), (beta, "Beta")]
    assert [line["sender"]["name"] for line in found["messages"]] == ["Owner", "Sara"]
    assert (found["success"], found["hasMore"]) == (True, False)
    assert (texts(last), last["hasMore"]) == (["Who deployed the shop?"], True)


async def test_f7_narrows_by_space_sender_and_time(house: House) -> None:
    scout = await house.agent("Scout")
    alpha = await house.space("Alpha", scout, triggers="mentioned")
    beta = await house.space("Beta", scout, triggers="mentioned")
    older, newer = await house.owner.say(alpha, "deploy one"), await house.owner.say(beta, "deploy two")
    asked: list[tuple[dict[str, Any], list[str]]] = [
        ({"spaceId": alpha}, ["deploy one"]),
        ({"from": "Owner"}, ["deploy one", "deploy two"]),
        ({"from": "Sara"}, []),
        ({"before": "2020-01-01"}, []),
        ({"before": "2999-01-01T00:00:00Z"}, ["deploy one", "deploy two"]),
        ({"before": older["createdAt"]}, []),
    ]
    house.model.script = sequence(*(call("search_messages", query="deploy", **each) for each, _ in asked), silent())
    await house.tell(scout)
    await house.until_idle()
    assert [texts(result) for result in house.model.asked[-1].results] == [expected for _, expected in asked]
    assert newer["createdAt"] >= older["createdAt"]


async def test_f7_nonsense_is_an_error_that_says_what_is_wrong(house: House) -> None:
    *_, found = await search(
        house, {"query": "!!"}, {"query": "a", "before": "yesterday"}, {"query": "a", "spaceId": "spc_0000000000000000"}
    )
    assert [result["success"] for result in found] == [False] * 3
    for result, said in zip(found, ("at least one word", "needs a date such as", "you are not a member"), strict=True):
        assert said in result["error"]


async def test_f7_a_long_message_is_cut_to_the_part_that_matches(house: House) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Alpha", scout, triggers="mentioned")
    await house.owner.say(space, "filler " * 2_000 + "the needle is here" + " filler" * 2_000)
    house.model.script = sequence(call("search_messages", query="needle"), silent())
    await house.tell(scout)
    await house.until_idle()
    [[line]] = [result["messages"] for result in house.model.asked[-1].results]
    assert "the needle is here" in line["text"]
    assert len(line["text"]) < 600
    assert line["cut"].startswith("the part that matches, of 28018")


@pytest.mark.parametrize("query", ["sell", "in:Board sell", "from:Owner company"])
async def test_f7_a_run_finds_only_what_its_person_may_read(house: House, query: str) -> None:
    _, sara, board, lounge = await board_and_lounge(house)
    everywhere, there = await results(
        house, sara, lounge, call("search_messages", query=query), call("search_messages", query=query, spaceId=board)
    )
    assert everywhere == {"success": True, "messages": [], "hasMore": False}
    assert "Sara, who is not a member of" in there["error"]
    assert all("sell the company" not in each.text for each in house.model.asked)
    [found] = await results(house, house.owner, lounge, call("search_messages", query=query))
    assert texts(found) == ["We sell the company."]


async def test_f7_members_do_not_see_what_was_found(house: House) -> None:
    scout, sara = await agent(house, "Scout", actsFor="itself"), await house.person("Sara")
    board, lounge = await house.space("Board", scout, triggers="mentioned"), await house.space("Lounge", scout, sara)
    await house.owner.say(board, "We sell the company.")
    [found] = await results(house, sara, lounge, call("search_messages", query="sell"))
    assert texts(found) == ["We sell the company."]
    await house.until_idle()
    [run] = await house.runs()
    seen = await sara.ok("GET", f"/api/runs/{run['id']}/steps")
    assert "sell the company" not in str(seen)
    assert "sell the company" in str(await house.owner.ok("GET", f"/api/runs/{run['id']}/steps"))


async def test_f7_e10_an_answer_after_a_search_everywhere_is_not_offered_to_the_asker(house: House) -> None:
    """The text may tell of a space that the asker is not in."""
    scout, sara = await agent(house, "Scout", actsFor="itself"), await house.person("Sara")
    lounge = await house.space("Lounge", scout, sara)
    for asked, offered in (({}, False), ({"spaceId": lounge}, True)):
        house.model.script = sequence(
            call("search_messages", query="sell", **asked), silent("They sell."), silent("So.")
        )
        await sara.say(lounge, "Scout?")
        await house.until_idle()
        newest = max(await house.runs(), key=lambda run: str(run["createdAt"]))
        assert ("unsent" in await sara.ok("GET", f"/api/runs/{newest['id']}")) is offered


async def test_f7_searching_moves_no_cursor(house: House) -> None:
    scout = await house.agent("Scout")
    alpha = await house.space("Alpha", scout)
    beta = await house.space("Beta", scout, triggers="mentioned")
    await house.owner.say(beta, "deploy one")
    house.model.script = sequence(call("search_messages", query="deploy"), silent())
    await house.owner.say(alpha, "Find it")
    await house.until_idle()
    house.model.script = sequence(silent())
    await house.owner.say(beta, "@Scout look")
    await house.until_idle()
    [line] = [line for line in house.model.asked[-1].text.splitlines() if "deploy one" in line]
    assert "[NEW]" in line
