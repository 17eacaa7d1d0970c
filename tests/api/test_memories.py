"""P1, P2, P3 over HTTP: administrators and the agent itself see its memories, goals and plans; others do not."""

from __future__ import annotations

from majlis.agents.goals import GoalChange, set_goals
from majlis.agents.memories import NewMemory, set_memories
from majlis.agents.plans import PlanDraft, set_plans
from tests.api.test_bad_input import assert_error
from tests.world import World

KEEPINGS = ("memories", "goals", "plans")


async def test_p1_p2_p3_memories_goals_and_plans_can_be_read(world: World) -> None:
    agent = await world.agent("Writer")
    db = world.gateway.db
    await db.write(set_memories, agent.id, [NewMemory("tone", "dry"), NewMemory("q4", "waiting")])
    goals = await db.write(set_goals, agent.id, [GoalChange("q4", "Complete Q4 report", priority=2)])
    plans = await db.write(set_plans, agent.id, [PlanDraft("Daily", "Report.", cron="0 9 * * *")], 0)
    for reader in (world.owner, await world.person("Ada", role="admin"), agent):
        memories = await reader.ok("GET", f"/api/agents/{agent.id}/memories")
        assert [(memory["key"], memory["value"]) for memory in memories] == [("q4", "waiting"), ("tone", "dry")]
        assert all(memory["updatedAt"].endswith("Z") for memory in memories)
        assert await reader.ok("GET", f"/api/agents/{agent.id}/goals") == goals
        assert await reader.ok("GET", f"/api/agents/{agent.id}/plans") == plans


async def test_an_agent_that_keeps_nothing_has_empty_lists(world: World) -> None:
    agent = await world.agent("Writer")
    for kept in KEEPINGS:
        assert await agent.ok("GET", f"/api/agents/{agent.id}/{kept}") == []


async def test_others_are_refused(world: World) -> None:
    agent, other, sara = await world.agent("Writer"), await world.agent("Designer"), await world.person("Sara")
    for kept in KEEPINGS:
        for stranger in (other, sara):
            assert_error(await stranger.get(f"/api/agents/{agent.id}/{kept}"), 403, "not_allowed")
        for nobody in ("ent_0000000000000000", sara.id):
            assert_error(await world.owner.get(f"/api/agents/{nobody}/{kept}"), 404, "unknown_agent")
        assert_error(await world.owner.get(f"/api/agents/nonsense/{kept}"), 404, "not_found")


async def test_a_deleted_agent_is_unknown(world: World) -> None:
    agent = await world.agent("Writer")
    await world.owner.ok("DELETE", f"/api/agents/{agent.id}")
    for kept in KEEPINGS:
        assert_error(await world.owner.get(f"/api/agents/{agent.id}/{kept}"), 404, "unknown_agent")
