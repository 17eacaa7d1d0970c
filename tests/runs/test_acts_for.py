"""G3: an agent acts with the rights of the person who asked, unless its config says otherwise."""

from __future__ import annotations

from typing import Any

from tests.model_server import call, say, sequence, silent
from tests.runs.house import House, block
from tests.world import Person


async def agent(house: House, name: str, **config: Any) -> Person:
    """An agent without a token. One with a token acts for itself."""
    made = await house.agent(name, **config)
    for token in await house.owner.ok("GET", f"/api/entities/{made.id}/tokens"):
        assert (await house.owner.delete(f"/api/tokens/{token['id']}")).status_code == 204
    return made


async def board_and_lounge(house: House, **config: Any) -> tuple[Person, Person, str, str]:
    """Scout is in the owner's private Board and in the Lounge, which Sara is in as well."""
    scout, sara = await agent(house, "Scout", **config), await house.person("Sara")
    board, lounge = await house.space("Board", scout), await house.space("Lounge", scout, sara)
    await house.owner.ok("POST", f"/api/spaces/{board}/pause")
    await house.owner.say(board, "We sell the company.")
    return scout, sara, board, lounge


async def results(house: House, asker: Person, space: str, *replies: Any) -> list[Any]:
    """The results of the tools in the run that the asker's message starts."""
    house.model.script = sequence(*replies, silent())
    await asker.say(space, "Go on")
    await house.model.until_asked(len(house.model.asked) + len(replies) + 1)
    return house.model.asked[-1].results


async def test_g3_a_run_enters_and_reads_only_spaces_of_its_person(house: House) -> None:
    _, sara, board, lounge = await board_and_lounge(house)
    tried = call("enter_space", spaceId=board), call("read_messages", spaceId=board), say("I could not.")
    entered, read, sent = await results(house, sara, lounge, *tried)
    assert entered["error"].startswith("You did not enter it, and your active space is unchanged: you act on behalf of")
    assert "Sara, who is not a member of" in entered["error"]
    assert 'actsFor: "itself"' in read["error"]
    assert sent["success"]
    assert all("sell" not in each.text for each in house.model.asked)


async def test_g3_a_run_is_shown_only_spaces_and_quotes_that_its_person_may_see(house: House) -> None:
    _, sara, board, lounge = await board_and_lounge(house)
    [secret] = [each for each in (await house.owner.history(board))["messages"] if each["kind"] == "text"]
    house.model.script = sequence()
    await sara.say(lounge, f"What does msg:{secret['id']} say?")
    await house.model.until_asked(1)
    assert [line.partition(" (id")[0] for line in block(house.model.asked[0], "YOUR SPACES")] == ['- "Lounge"']
    assert "sell" not in house.model.asked[0].text
    await house.owner.say(lounge, f"What does msg:{secret['id']} say?")
    await house.model.until_asked(2)
    shown = house.model.asked[1]
    assert len(block(shown, "YOUR SPACES")) == 2
    assert "We sell the company." in shown.text


async def test_g3_a_walk_between_spaces_needs_no_setting_if_the_asker_is_in_both(house: House) -> None:
    scout, sara = await agent(house, "Scout"), await house.person("Sara")
    here, there = await house.space("Here", scout, sara), await house.space("There", scout, sara)
    sent = await results(house, sara, here, call("enter_space", spaceId=there), say("Hello from Sara."))
    assert [each["success"] for each in sent] == [True, True]
    assert (await house.texts(there))[-1] == ("Scout", "Hello from Sara.")


async def test_g3_a_run_posts_only_where_its_person_may_write(house: House) -> None:
    """Sara leaves the space after the agent has entered it, and is only a viewer of another."""
    scout, sara = await agent(house, "Scout"), await house.person("Sara")
    here, there = await house.space("Here", scout, sara), await house.space("There", scout, sara)
    hall = await house.space("Hall", scout)
    await house.owner.ok("POST", f"/api/spaces/{hall}/members", {"entityId": sara.id, "role": "viewer"})

    async def leave(_: Any) -> Any:
        await house.remove(there, sara)
        return say("Too late.")

    tried = call("enter_space", spaceId=there), leave, call("enter_space", spaceId=hall), say("As a viewer?")
    _, late, entered, as_viewer = await results(house, sara, here, *tried)
    assert entered["success"]
    for refused in (late, as_viewer):
        assert refused["error"].startswith("Nothing was sent: you act on behalf of a person who may not write")
    assert await house.texts(there) == await house.texts(hall) == []


async def test_g3_itself_restores_free_movement_and_members_see_it(house: House) -> None:
    _, sara, board, lounge = await board_and_lounge(house, actsFor="itself")
    [read] = await results(house, sara, lounge, call("read_messages", spaceId=board))
    assert read["messages"][-1]["text"] == "We sell the company."
    listed = {each["name"]: each.get("actsFor") for each in await sara.ok("GET", f"/api/spaces/{lounge}/members")}
    assert listed == {"Owner": None, "Sara": None, "Scout": "itself"}


async def test_g3_an_agent_with_a_live_token_and_a_consciousness_act_for_themselves(house: House) -> None:
    bot, mind = await house.agent("Bot"), await agent(house, "Mind", mind="consciousness")
    plain = await agent(house, "Plain")
    space = await house.space("Lounge", bot, mind, plain)
    listed = {each["name"]: each.get("actsFor") for each in await house.owner.ok("GET", f"/api/spaces/{space}/members")}
    assert listed == {"Owner": None, "Bot": "itself", "Mind": "itself", "Plain": "asker"}
    board = await house.space("Board", bot)
    sara = await house.person("Sara")
    await house.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id})
    house.model.script = sequence()
    await sara.say(space, "hello")
    await house.until_idle()
    [shown] = house.asked("Bot")
    assert board in shown.text


async def test_g3_a_chain_of_agents_keeps_the_rights_of_its_asker(house: House) -> None:
    """Sara asks Ann, and Ann asks Bob, who is also in the Board."""
    ann, bob, sara = await agent(house, "Ann"), await agent(house, "Bob"), await house.person("Sara")
    board, lounge = await house.space("Board", bob), await house.space("Lounge", ann, bob, sara, triggers="mentioned")
    reading = sequence(call("read_messages", spaceId=board), silent())
    house.model.script = lambda asked: (
        reading(asked) if asked.agent == "Bob" else say("@Bob read the Board") if asked.step == 0 else silent()
    )
    await sara.say(lounge, "@Ann what is new?")
    await house.until_idle()
    [refused] = house.asked("Bob")[-1].results
    assert "you act on behalf of Sara" in refused["error"]


async def test_g3_a_run_sees_stops_and_absorbs_only_runs_of_its_persons_spaces(house: House) -> None:
    scout, sara = await agent(house, "Scout"), await house.person("Sara")
    board, lounge = await house.space("Board", scout), await house.space("Lounge", scout, sara)
    house.model.script = sequence(say("Really?", wait=True))
    await house.owner.say(board, "Sell the company")
    await house.until_waiting()
    [secret] = await house.runs(scout)
    tried = call("get_my_runs"), call("stop_run", runId=secret["id"]), call("absorb_run", runId=secret["id"])
    listed, stopped, absorbed = await results(house, sara, lounge, *tried)
    assert [run["runId"] for run in listed["runs"]] != []
    assert secret["id"] not in str(listed)
    assert stopped["error"].startswith("You have no run")
    assert absorbed["error"].startswith("You have no run")
    assert all(secret["id"] not in "".join(block(each, "ACTIVE RUNS")) for each in house.model.asked[1:])
    assert (await house.run(secret["id"]))["status"] == "waiting_reply"
