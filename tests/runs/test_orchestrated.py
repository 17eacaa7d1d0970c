"""R8: an orchestrator decides which agents act, and is triggered again when all have acted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import deliveries, turns
from majlis.store.transactions import Tx
from tests.minds.roles.scenes import TIMES
from tests.model_server import Asked, Part, Reply, by_agent, call, say, sequence, silent
from tests.runs.house import House, open_house, says
from tests.world import Person

pytestmark = pytest.mark.usefixtures("standing_clock")


async def stage(house: House, conductor: str = "roles", **parts: Part) -> tuple[str, dict[str, Person]]:
    """Maestro orchestrates Planner and Coder, which have their own minds."""
    minds = {"Maestro": conductor, "Planner": "roles", "Coder": "timeline"}
    agents = {name: await house.agent(name, mind=mind) for name, mind in minds.items()}
    maestro = agents["Maestro"].id
    space = await house.space("Project Alpha", *agents.values(), triggers="orchestrated", orchestratorId=maestro)
    house.model.script = by_agent(parts)
    return space, agents


def view(asked: Asked) -> str:
    assert [message["role"] for message in asked.messages[:2]] == ["system", "user"]
    return str(asked.messages[1]["content"])


def section(asked: Asked, heading: str) -> list[str]:
    """The lines of one part of the view, without ids and times."""
    [part] = [part for part in view(asked).split("\n\n") if part.startswith(f"{heading}:")]
    return [line.partition("] ")[2] or line.strip() if "[2" in line else line.strip() for line in part.split("\n")[1:]]


async def woken(house: House) -> list[tuple[str, str, int]]:
    return [(run["agentName"], run["trigger"]["text"], run["chainDepth"]) for run in await house.runs()]


async def test_r8_from_a_request_to_its_end_in_two_turns(house: House) -> None:
    steps: list[Reply] = [
        call("route", agents=["Planner"], phase="plan", reason="needs a plan"),
        silent(),
        call("route", agents=["@coder", "Planner"], phase="build"),
        silent(),
        say("All done, Owner."),
        silent(),
    ]
    space, agents = await stage(
        house, Maestro=steps, Planner=[say("Two pages."), silent(), silent()], Coder=says("Built.")
    )
    request = await house.owner.say(space, "Make me a site")
    await house.until_idle()
    assert sorted(await woken(house), key=lambda each: (each[2], each[1] == "Built.", each[1], each[0])) == [
        ("Maestro", "Make me a site", 0),
        ("Planner", "Make me a site", 1),
        ("Maestro", "Two pages.", 1),
        ("Coder", "Two pages.", 2),
        ("Planner", "Two pages.", 2),
        ("Maestro", "Built.", 2),
    ]
    first, second, third = house.invocations("Maestro")
    assert section(first, "AGENTS") == ["- Coder", "- Planner"]
    assert section(first, "ORIGINAL REQUEST")[0].endswith('"Make me a site"')
    assert section(first, "FINISHED TURNS") == section(first, "CURRENT TURN") == ["(none)"]
    assert section(first, "NOW") == ["The request is new."]
    assert section(second, "FINISHED TURNS")[1:] == ['- Planner completed: "Two pages."']
    assert 'routed to Planner, phase: "plan", reason: "needs a plan"' in view(second)
    assert section(second, "NOW") == ["Turn 1 is finished."]
    assert section(third, "FINISHED TURNS")[-2:] == [
        '- Coder completed: "Built."',
        "- Planner completed without a message",
    ]
    assert section(third, "ORIGINAL REQUEST")[0].endswith('"Make me a site"')
    assert request["id"] in view(third)
    assert await house.texts(space) == [
        ("Owner", "Make me a site"),
        ("Planner", "Two pages."),
        ("Coder", "Built."),
        ("Maestro", "All done, Owner."),
    ]
    assert (await house.owner.space(space))["phase"] == "build"
    phases = await house.owner.ok("GET", f"/api/spaces/{space}/phases")
    assert [(each["fromPhase"], each["toPhase"], each["entityId"]) for each in phases] == [
        ("plan", "build", agents["Maestro"].id),
        (None, "plan", agents["Maestro"].id),
    ]
    # What Planner was shown the second time: its own message, and its new turn.
    again = house.invocations("Planner")[1].messages[1:]
    shown = [message["role"] for message in again if not message["content"].startswith(TIMES)]
    assert shown == ["user", "assistant", "user"]


@pytest.mark.parametrize("conductor", ["roles", "timeline"])
async def test_r8_an_orchestrator_routes_where_it_is_one_and_nowhere_else(house: House, conductor: str) -> None:
    space, agents = await stage(house, conductor, Maestro=[call("route", agents=["Coder"]), *[silent()] * 3])
    other = await house.space("Elsewhere", agents["Maestro"])
    await house.owner.say(space, "Go")
    await house.until_idle()
    await house.owner.say(other, "Hello")
    await house.until_idle()
    first, _, finished, elsewhere = house.asked("Maestro")
    assert section(first, "NOW") == ["The request is new."]
    assert section(finished, "FINISHED TURNS")[1:] == ["- Coder completed without a message"]
    assert ["route" in asked.tool_names for asked in house.asked("Maestro")] == [True, True, True, False]
    assert "AGENTS:" not in elsewhere.text


async def test_r8_a_consciousness_conducts_from_its_inbox(house: House) -> None:
    """It used to have neither the `route` tool nor a routing view."""
    steps = [call("route", agents=["Planner"], reason="needs a plan"), silent("Routed."), say("Done."), silent("Done.")]
    space, agents = await stage(house, "consciousness", Maestro=steps, Planner=says("Two pages."))
    other = await house.space("Elsewhere", agents["Maestro"])
    await house.owner.say(space, "Make me a site")
    await house.until_idle()
    assert [run["chainDepth"] for run in await house.runs(agents["Maestro"])] == [0, 1]
    asked = house.asked("Maestro")
    assert all("route" in each.tool_names for each in asked)
    first, finished = (each.last["content"] for each in (asked[0], asked[2]))
    assert f'\n\nROUTING "Project Alpha" (id: {space}):\n\nAGENTS:\n  - Coder\n  - Planner\n\n' in first
    assert "\n\nNOW:\n  The request is new.\n\nACTIVE SPACE: none" in first
    assert '     - Planner completed: "Two pages."\n' in finished
    assert "\n\nNOW:\n  Turn 1 is finished.\n\n" in finished
    assert "ORIGINAL REQUEST:" in finished
    assert '"Make me a site"' in finished
    # Events from elsewhere come without a view, but the tools stay the same.
    await house.owner.say(other, "Hello")
    await house.until_idle()
    latest = house.asked("Maestro")[-1]
    assert "ROUTING" not in latest.last["content"]
    assert "route" in latest.tool_names


async def test_r8_a_consciousness_routes_in_its_active_space(house: House) -> None:
    space, agents = await stage(house, "consciousness")
    maestro, coder = agents["Maestro"], agents["Coder"]
    other = await house.space("Beta", maestro, coder, triggers="orchestrated", orchestratorId=maestro.id)
    gate = asyncio.Event()
    route = call("route", agents=["Coder"])
    steps: list[Reply] = [Reply(gate=gate), route, call("enter_space", spaceId=other), route, silent("Routed.")]
    house.model.script = by_agent({"Maestro": steps, "Coder": says("Built.")})
    await house.tell(maestro)
    await house.model.until_asked(1)
    await house.owner.say(space, "For Alpha")
    earlier, later = await house.owner.say(other, "For Beta"), await house.owner.say(other, "For Beta, too")
    gate.set()
    await house.until_idle()
    refused = house.asked("Maestro")[2].results[-1]
    assert refused["error"].startswith("Nothing was routed: messages came from several spaces")
    [run] = await house.runs(coder)
    assert (run["trigger"]["text"], run["trigger"]["messageId"]) == ("For Beta, too", later["id"])
    assert "For Beta" in house.invocations("Coder")[0].text
    assert earlier["id"] in house.invocations("Coder")[0].text


async def test_r8_a_turn_is_finished_when_every_routed_agent_has_completed_once(house: House) -> None:
    gate = asyncio.Event()
    space, _ = await stage(
        house,
        Maestro=[call("route", agents=["Planner", "Coder"]), silent(), silent()],
        Planner=says("Mine is ready."),
        Coder=Reply(gate=gate),
    )
    await house.owner.say(space, "Go")
    await house.model.until_asked(5)
    assert len(house.invocations("Maestro")) == 1, "Coder is at work"
    gate.set()
    await house.until_idle()
    assert len(house.invocations("Maestro")) == 2
    finished = section(house.invocations("Maestro")[1], "FINISHED TURNS")
    assert finished[1:] == ["- Coder completed without a message", '- Planner completed: "Mine is ready."']


async def test_r8_reading_the_view_changes_nothing_and_a_second_request_sees_the_turn_under_way(house: House) -> None:
    gate = asyncio.Event()
    space, agents = await stage(
        house, Maestro=[call("route", agents=["Coder"]), silent(), silent(), silent()], Coder=Reply(gate=gate)
    )
    await house.owner.say(space, "Go")
    await house.model.until_asked(3)
    before = await house.world.gateway.db.read(_ledger)
    await house.owner.say(space, "And hurry")
    await house.model.until_asked(4)
    looking = house.invocations("Maestro")[-1]
    assert section(looking, "CURRENT TURN")[1:] == ["- Coder is working"]
    assert section(looking, "ORIGINAL REQUEST")[0].endswith('"And hurry"')
    [run] = [run for run in await house.runs(agents["Maestro"]) if run["trigger"]["text"] == "And hurry"]
    await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    assert await house.world.gateway.db.read(_ledger) == before
    gate.set()
    await house.until_idle()


def _ledger(tx: Tx) -> list[Any]:
    """Turns, and their deliveries."""
    of_turns = sa.select(deliveries.c.event_id, deliveries.c.state).where(deliveries.c.event_id.like("trn%"))
    return [tuple(row) for statement in (sa.select(turns), of_turns) for row in tx.all(statement)]


async def test_r8_a_failed_canceled_or_removed_agent_does_not_hold_a_turn_for_ever(house: House) -> None:
    house.try_models_once()
    space, agents = await stage(house)
    for ending in ("fails", "is canceled", "is removed"):
        gate = asyncio.Event()
        part: Part = Reply(status=401) if ending == "fails" else Reply(gate=gate)
        maestro = sequence(call("route", agents=["Coder"]), silent(), silent())
        house.model.script = by_agent({"Maestro": maestro, "Coder": part})
        asked = len(house.model.asked)
        await house.owner.say(space, f"Coder {ending}")
        if ending != "fails":
            await house.model.until_asked(asked + 3)
            run = (await house.runs(agents["Coder"]))[-1]
            if ending == "is removed":
                await house.remove(space, agents["Coder"])
            await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
        await house.until_idle()
        shown = section(house.invocations("Maestro")[-1], "FINISHED TURNS")
        expected = "could not complete it" if ending == "fails" else "completed without a message"
        assert shown[1:] == [f"- Coder {expected}"], ending


async def test_r8_pending_deliveries_of_an_agent_that_leaves_count_as_completed(settings: Settings) -> None:
    """With one slot, Coder's delivery is still pending when it is removed."""
    async with open_house(settings.model_copy(update={"workers": 1})) as house:
        gate = asyncio.Event()

        async def routing(asked: Asked) -> Reply:
            if asked.step == 0 and len(house.invocations("Maestro")) == 1:
                return call("route", agents=["Coder"])
            await gate.wait()
            return silent()

        space, agents = await stage(house, Maestro=routing)
        await house.owner.say(space, "Go")
        await house.model.until_asked(2)
        await house.remove(space, agents["Coder"])
        gate.set()
        await house.until_idle()
        assert section(house.invocations("Maestro")[-1], "NOW") == ["Turn 1 is finished."]


async def test_r8_t5_chains_of_turns_end_by_depth_with_a_notice(house: House) -> None:
    def routing(asked: Asked) -> Reply:
        return call("route", agents=["Coder"]) if asked.step == 0 else silent()

    space, agents = await stage(house, Maestro=routing, Coder=says("Again."))
    await house.owner.say(space, "For ever")
    await house.until_idle()
    assert [run["chainDepth"] for run in await house.runs(agents["Coder"])] == [1, 2, 3, 4]
    assert [run["chainDepth"] for run in await house.runs(agents["Maestro"])] == [0, 1, 2, 3, 4]
    last = house.asked("Maestro")[-1]
    assert last.results[0]["success"] is False
    assert "Sum up" in last.results[0]["error"]
    notices = [m for m in (await house.owner.history(space))["messages"] if m["kind"] == "notice"]
    assert len(notices) == 1
    assert "could not route it again" in notices[0]["text"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nobody": ({"agents": []}, "at least 1 item"),
    "unknown": ({"agents": ["Mallory"]}, "no other agent named Mallory in this space. The agents are: Coder, Planner."),
    "itself": ({"agents": ["Maestro"]}, "there is no other agent named Maestro in"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_r8_the_model_sees_what_cannot_be_routed(house: House, case: str) -> None:
    given, expected = REFUSED[case]
    space, agents = await stage(house, Maestro=[call("route", **given), silent()])
    await house.owner.say(space, "Go")
    await house.until_idle()
    [result] = house.asked("Maestro")[-1].results
    assert expected in result["error"]
    assert await house.runs(agents["Coder"]) == []


async def test_r8_one_turn_of_a_request_at_a_time_and_only_by_the_orchestrator(house: House) -> None:
    space, agents = await stage(
        house,
        Maestro=[call("route", agents=["Coder"]), call("route", agents=["Planner"]), silent()],
        Planner=[call("route", agents=["Coder"]), silent()],
    )
    await house.owner.say(space, "Go")
    await house.until_idle()
    assert "a turn of this request is in progress" in house.asked("Maestro")[2].results[1]["error"]
    assert await house.runs(agents["Planner"]) == []
    await house.owner.say(space, "@Planner you try")
    await house.until_idle()
    assert "you are not the orchestrator" in house.asked("Planner")[1].results[0]["error"]


async def test_r8_a_mention_goes_to_that_member_and_an_answer_within_a_turn_triggers_no_agent(house: House) -> None:
    space, _ = await stage(house)
    await house.owner.say(space, "@Coder just you")
    await house.until_idle()
    assert [run["agentName"] for run in await house.runs()] == ["Coder"]
    house.model.script = by_agent(
        {
            "Maestro": [call("route", agents=["Planner"]), silent(), silent()],
            "Planner": [say("@Coder help"), silent()],
            "Coder": says("Helped."),
        }
    )
    await house.owner.say(space, "Go")
    await house.until_idle()
    assert sorted((name, text) for name, text, _ in (await woken(house))[1:]) == [
        ("Coder", "@Coder help"),
        ("Maestro", "@Coder help"),
        ("Maestro", "Go"),
        # Coder was not in the turn: a message of it without mentions goes to the orchestrator.
        ("Maestro", "Helped."),
        ("Planner", "Go"),
    ]


async def test_r8_an_orchestrator_leaves_only_when_another_one_is_chosen(house: House) -> None:
    space, agents = await stage(house)
    refused = await house.owner.delete(f"/api/spaces/{space}/members/{agents['Maestro'].id}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "orchestrator")
    gone = await house.owner.delete(f"/api/agents/{agents['Maestro'].id}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (409, "orchestrator")
    await house.owner.ok("PATCH", f"/api/spaces/{space}", {"orchestratorId": agents["Planner"].id})
    await house.remove(space, agents["Maestro"])
    await house.owner.say(space, "Go")
    await house.until_idle()
    assert [run["agentName"] for run in await house.runs()] == ["Planner"]
