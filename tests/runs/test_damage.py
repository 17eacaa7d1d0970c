"""R9: a damaged message is left out wherever it is needed, and blocks no work.

SQLite stores any bytes; PostgreSQL refuses most of these.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from tests.model_server import Reply, by_agent, call, say, silent
from tests.runs.house import House, once

BYTES = pytest.mark.parametrize("engine", ["sqlite"])
# Readable values that are not messages. PostgreSQL stores some of them too.
MISSHAPEN = [
    ("sqlite", "text = x'ff00'"),
    ("sqlite", "created_at = 'yesterday'"),
    ("sqlite", "reply_to = x'ff'"),
    *((engine, "created_at = 99999999999999999") for engine in ("sqlite", "postgresql")),
    *((engine, "origin = '[]'") for engine in ("sqlite", "postgresql")),
    *((engine, "mentions = '7'") for engine in ("sqlite", "postgresql")),
]


async def damage(house: House, message: Any) -> None:
    broken = sa.text(
        "UPDATE messages SET mentions = 'no', tool = 'json', text = CAST(x'ff00fe' AS TEXT) WHERE id = :id"
    )
    await house.world.gateway.db.write(lambda tx: tx.execute(broken, {"id": message["id"]}).rowcount)


@pytest.mark.parametrize(("engine", "damage"), MISSHAPEN)
@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_r9_a_value_that_is_not_a_message_blocks_no_work(house: House, mind: str, damage: str) -> None:
    """It used to stop the worker for all agents, and every page of the space failed."""
    scout = await house.agent("Scout", mind=mind, limits={"concurrentRuns": 1})
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()
    house.model.script = by_agent({"Scout": Reply(gate=gate)})
    await house.owner.say(space, "one")
    await house.model.until_asked(1)
    damaged, fine = await house.owner.say(space, "two"), await house.owner.say(space, "three")
    broken = sa.text(f"UPDATE messages SET {damage} WHERE id = :id")
    await house.world.gateway.db.write(lambda tx: tx.execute(broken, {"id": damaged["id"]}).rowcount)
    gate.set()
    await house.until_idle()
    assert await house.deliveries(fine) == [("Scout", "passed")]
    assert {run["status"] for run in await house.runs(scout)} == {"completed"}
    assert [text for _, text in await house.texts(space)] == ["one", "three"]
    assert (await house.owner.get(f"/api/messages/{damaged['id']}")).json()["error"]["code"] == "damaged_message"
    for path in ("/api/spaces", "/api/search?q=two", f"/api/spaces/{space}"):
        assert (await house.owner.get(path)).status_code == 200


@BYTES
@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_r9_a_damaged_pending_message_is_dropped_and_blocks_no_work(house: House, mind: str) -> None:
    """While it was pending, the worker could not claim anything for any agent."""
    scout, other = await house.agent("Scout", mind=mind, limits={"concurrentRuns": 1}), await house.agent("Other")
    space, elsewhere = await house.space("Project Alpha", scout), await house.space("Elsewhere", other)
    gate = asyncio.Event()
    house.model.script = by_agent({"Scout": Reply(gate=gate), "Other": once(say("Here."))})
    await house.owner.say(space, "one")
    await house.model.until_asked(1)
    damaged, fine = await house.owner.say(space, "two"), await house.owner.say(space, "three")
    await damage(house, damaged)
    gate.set()
    await house.until_idle()
    await house.owner.say(elsewhere, "Are you there?")
    await house.until_idle()
    assert await house.deliveries(fine) == [("Scout", "passed")]
    assert "three" in house.asked("Scout")[-1].text
    assert [run["status"] for run in await house.runs(scout)] == ["completed", "completed"]
    assert await house.texts(elsewhere) == [("Owner", "Are you there?"), ("Other", "Here.")]
    owed = await house.owner.ok("GET", f"/api/agents/{scout.id}/inbox")
    assert owed == []


@BYTES
@pytest.mark.parametrize("mind", ["timeline", "roles"])
async def test_r9_a_damaged_quoted_message_is_not_shown_inline(house: House, mind: str) -> None:
    coder = await house.agent("Coder", mind=mind)
    space = await house.space("Project Alpha", coder, triggers="mentioned")
    damaged, whole = await house.owner.say(space, "two"), await house.owner.say(space, "three")
    await damage(house, damaged)
    await house.owner.say(space, f"@Coder see msg:{damaged['id']} and msg:{whole['id']}")
    await house.until_idle()
    [asked] = house.asked("Coder")
    if mind == "roles":
        assert f'=== QUOTED msg:{whole["id"]} by Owner: "three" ===' in asked.last["content"]
        assert asked.last["content"].count("QUOTED") == 1
    [run] = await house.runs(coder)
    assert run["status"] == "completed"


@BYTES
async def test_r9_an_orchestrator_goes_on_without_a_damaged_request_and_damaged_words(house: House) -> None:
    boss, coder = await house.agent("Boss"), await house.agent("Coder")
    # The damaged words came after its last look, and are not what this test is about.
    planner = await house.agent("Planner", guard=False)
    space = await house.space("Project Alpha", coder, planner, triggers="orchestrated", orchestratorId=boss.id)
    gate = asyncio.Event()
    planned = say("Planned.")
    planned.gate = gate
    routes = once(call("route", agents=["Coder", "Planner"]), silent())
    house.model.script = by_agent({"Boss": routes, "Coder": once(say("Coded.")), "Planner": planned})
    request = await house.owner.say(space, "Make me a site")
    await house.model.until_asked(5)
    said = {each["text"]: each for each in (await house.owner.history(space))["messages"]}
    await damage(house, request)
    await damage(house, said["Coded."])
    gate.set()
    await house.until_idle()
    view = house.invocations("Boss")[-1].last["content"]
    assert "ORIGINAL REQUEST:\n  (none)" in view
    assert "- Coder completed without a message" in view
    assert '- Planner completed: "Planned."' in view
