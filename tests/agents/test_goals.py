"""P2: goals are set by id; omitted fields of an existing goal stay unchanged."""

from __future__ import annotations

import asyncio

import pytest

from majlis.agents.goals import MAX_GOALS, GoalChange, GoalJson, delete_goals, list_goals, set_goals
from majlis.agents.own_rows import MAX_ITEMS
from majlis.errors import Invalid
from majlis.store.open import open_database
from majlis.store.transactions import Database
from tests.agents.actors import new_agent

Q4 = GoalChange("q4", "Complete Q4 report", priority=2)


async def held(db: Database, agent: str) -> dict[str, GoalJson]:
    return {goal["id"]: goal for goal in await db.read(list_goals, agent)}


async def test_p2_a_new_goal_is_active_and_has_defaults(db: Database, agent: str) -> None:
    (goal,) = await db.write(set_goals, agent, [GoalChange("q4", "Complete Q4 report")])
    assert goal == {
        "id": "q4",
        "description": "Complete Q4 report",
        "status": "active",
        "priority": 0,
        "longTerm": False,
        "updatedAt": goal["updatedAt"],
    }
    assert await db.read(list_goals, agent) == [goal]


async def test_p2_completing_a_goal_keeps_its_description(db: Database, agent: str) -> None:
    await db.write(set_goals, agent, [Q4])
    (goal,) = await db.write(set_goals, agent, [GoalChange("q4", status="completed")])
    assert (goal["description"], goal["status"], goal["priority"]) == ("Complete Q4 report", "completed", 2)


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        (GoalChange("q4", description="Another"), "description", "Another"),
        (GoalChange("q4", priority=0), "priority", 0),
        (GoalChange("q4", long_term=False), "longTerm", False),
        (GoalChange("q4", status="active"), "status", "active"),
    ],
    ids=["description", "priority", "long_term", "status"],
)
async def test_p2_each_field_changes_alone(
    db: Database, agent: str, change: GoalChange, field: str, value: object
) -> None:
    (before,) = await db.write(set_goals, agent, [GoalChange("q4", "Complete Q4 report", "completed", 2, True)])
    (after,) = await db.write(set_goals, agent, [change])
    assert {**before, field: value, "updatedAt": after["updatedAt"]} == after
    assert (await held(db, agent))["q4"] == after


async def test_p2_a_goal_without_an_id_gets_one(db: Database, agent: str) -> None:
    made = await db.write(set_goals, agent, [GoalChange(description="First"), GoalChange(description="Second")])
    assert all(goal["id"].startswith("gol_") for goal in made)
    await db.write(set_goals, agent, [GoalChange(made[0]["id"], status="completed")])
    assert [goal["description"] for goal in await db.read(list_goals, agent, "active")] == ["Second"]


async def test_p2_active_goals_come_first_then_by_priority(db: Database, agent: str) -> None:
    await db.write(
        set_goals,
        agent,
        [
            GoalChange("d", "x", "completed", 9),
            GoalChange("a", "x"),
            GoalChange("c", "x", priority=2),
            GoalChange("b", "x", priority=2),
        ],
    )
    assert [goal["id"] for goal in await db.read(list_goals, agent)] == ["b", "c", "a", "d"]


@pytest.mark.parametrize(
    "bad",
    [
        GoalChange("new"),
        GoalChange(status="completed"),
        GoalChange("", "x"),
        GoalChange("two\nlines", "x"),
        GoalChange("i" * 65, "x"),
        GoalChange("new", " "),
        GoalChange("new", "nul\x00"),
        GoalChange("new", "x" * 4097),
        GoalChange("new", "x", priority=-1),
        GoalChange("new", "x", priority=2**31),
        GoalChange("old", "the same goal again"),
    ],
    ids=repr,
)
async def test_p2_one_bad_goal_refuses_the_whole_call(db: Database, agent: str, bad: GoalChange) -> None:
    before = await db.write(set_goals, agent, [GoalChange("old", "stays")])
    with pytest.raises(Invalid):
        await db.write(set_goals, agent, [GoalChange("old", status="completed"), GoalChange("good", "x"), bad])
    assert await db.read(list_goals, agent) == before


async def test_p2_a_new_goal_without_a_description_is_refused_with_what_to_do(db: Database, agent: str) -> None:
    with pytest.raises(Invalid, match=r'no goal "q5" yet.* goals\.0\.description') as refused:
        await db.write(set_goals, agent, [GoalChange("q5", status="completed")])
    assert refused.value.details == {"path": "goals.0.description"}


async def test_p2_an_agent_has_at_most_200_goals(db: Database, agent: str) -> None:
    for start in range(0, MAX_GOALS, MAX_ITEMS):
        await db.write(set_goals, agent, [GoalChange(f"g{start + n}", "x") for n in range(MAX_ITEMS)])
    with pytest.raises(Invalid, match=r"at most 200 are kept\. Completed goals count"):
        await db.write(set_goals, agent, [GoalChange("one more", "x")])
    await db.write(set_goals, agent, [GoalChange("g0", status="completed")])
    assert await db.write(delete_goals, agent, ["g0", "nope"]) == {"deleted": ["g0"], "notFound": ["nope"]}
    await db.write(set_goals, agent, [GoalChange("one more", "x")])


async def test_p2_two_agents_may_use_the_same_id(db: Database, agent: str) -> None:
    other = await new_agent(db, "Designer")
    await db.write(set_goals, agent, [Q4])
    await db.write(set_goals, other, [GoalChange("q4", "Draw Q4")])
    await db.write(delete_goals, other, ["q4"])
    assert list(await held(db, agent)) == ["q4"]


async def test_p2_two_runs_that_change_different_fields_at_once_lose_neither(
    db: Database, agent: str, database_url: str
) -> None:
    other = open_database(database_url)
    for n in range(1, 21):
        await db.write(set_goals, agent, [GoalChange(f"g{n}", "x")])
        await asyncio.gather(
            db.write(set_goals, agent, [GoalChange(f"g{n}", priority=n)]),
            other.write(set_goals, agent, [GoalChange(f"g{n}", status="completed")]),
        )
        goal = (await held(db, agent))[f"g{n}"]
        assert (goal["priority"], goal["status"]) == (n, "completed")
    await other.close()
