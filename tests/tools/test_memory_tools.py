"""P1, P2, P3: the tools for memories, goals and plans, as a model calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from majlis.errors import Invalid
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.run import Run as AgentRun
from majlis.store.open import open_database
from majlis.store.tables import plans
from majlis.store.transactions import Database
from majlis.tools.builtin.base import BuiltIn
from majlis.tools.builtin.goals import delete_goals, set_goals
from majlis.tools.builtin.memories import delete_memories, get_memories, set_memories
from majlis.tools.builtin.plans import delete_plans, get_plans, set_plans
from tests.agents.actors import new_agent

TOOLS: tuple[BuiltIn, ...] = (
    set_memories, get_memories, delete_memories, set_goals, delete_goals, set_plans, get_plans, delete_plans,
)  # fmt: skip


class Run:
    """A run that calls tools: like the executor, each call parses its input and is one transaction."""

    def __init__(self, db: Database, agent_id: str, chain_depth: int = 0) -> None:
        self.db = db
        trigger: TriggerJson = {"type": "heartbeat", "chainDepth": chain_depth}
        self.agent_id = agent_id
        self.run = AgentRun("run_0000000000000000", agent_id, "Writer", 1, trigger, None, None, chain_depth)

    async def call(self, tool: BuiltIn, **given: Any) -> ToolResult:
        parsed = tool.input.model_validate(given)
        return await self.db.write(lambda tx: tool.call(tx, CallContext(self.run), parsed))


@pytest.fixture
async def run(database_url: str) -> AsyncIterator[Run]:
    db = open_database(database_url)
    yield Run(db, await new_agent(db))
    await db.close()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_tells_a_model_what_it_is_for(tool: BuiltIn) -> None:
    spec = tool.spec
    assert spec.name == tool.name
    assert len(spec.description) < 600
    assert spec.schema["type"] == "object"
    assert spec.schema["additionalProperties"] is False


def test_the_schemas_have_the_names_that_models_are_told() -> None:
    shapes = {
        tool.name: {
            name: sorted(field.get("items", {}).get("properties", {}))
            for name, field in tool.spec.schema["properties"].items()
        }
        for tool in TOOLS
    }
    assert shapes == {
        "set_memories": {"memories": ["key", "value"]},
        "get_memories": {"keys": []},
        "delete_memories": {"keys": []},
        "set_goals": {"goals": ["description", "id", "longTerm", "priority", "status"]},
        "delete_goals": {"ids": []},
        "set_plans": {"plans": ["cron", "id", "instruction", "name", "runAfter", "scheduledAt"]},
        "get_plans": {"status": []},
        "delete_plans": {"ids": []},
    }


async def test_p1_memories_are_set_read_and_deleted(run: Run) -> None:
    given = [{"key": "q4", "value": "waiting for the budget"}, {"key": "tone", "value": "dry"}]
    assert await run.call(set_memories, memories=given) == {"success": True, "saved": ["q4", "tone"], "cleared": []}
    no_choice: tuple[dict[str, Any], ...] = ({}, {"keys": None}, {"keys": []})
    for everything in no_choice:
        result = await run.call(get_memories, **everything)
        assert result["success"] is True
        assert [(memory["key"], memory["value"]) for memory in result["memories"]] == [
            ("q4", "waiting for the budget"),
            ("tone", "dry"),
        ]
    some = await run.call(get_memories, keys=["tone"])
    assert [memory["key"] for memory in some["memories"]] == ["tone"]
    deleted = await run.call(delete_memories, keys=["q4", "nope"])
    assert deleted == {"success": True, "deleted": ["q4"], "notFound": ["nope"]}


async def test_p2_goals_as_in_the_example_of_the_design(run: Run) -> None:
    goal = {"id": "q4", "description": "Complete Q4 report", "status": "active"}
    await run.call(set_goals, goals=[goal])
    result = await run.call(set_goals, goals=[{"id": "q4", "status": "completed", "longTerm": True}])
    assert result["success"] is True
    (changed,) = result["goals"]
    assert (changed["description"], changed["status"], changed["longTerm"]) == ("Complete Q4 report", "completed", True)
    deleted = await run.call(delete_goals, ids=["q4"])
    assert deleted == {"success": True, "deleted": ["q4"], "notFound": []}


async def test_p2_a_later_run_learns_the_ids_of_its_goals_by_naming_one_that_is_not_there(run: Run) -> None:
    """Prompts show goals without ids: otherwise a later run could neither complete nor delete a goal."""
    report, old = {"id": "q4", "description": "Complete the Q4 report\nfor " + "財" * 500}, {"id": "q3"}
    await run.call(set_goals, goals=[{**old, "description": "Q3", "priority": 9, "status": "completed"}, report])
    with pytest.raises(Invalid, match=r'Yours: "q4" is Complete the Q4 report for 財{33}…; "q3" is Q3\.$'):
        await run.call(set_goals, goals=[{"id": "revenue", "status": "completed"}])
    deleted = await run.call(delete_goals, ids=["q3", "revenue"])
    assert deleted["notFound"] == ["revenue"]
    beginning = f"Complete the Q4 report for {'財' * 33}…"
    assert deleted["yours"] == [{"id": "q4", "description": beginning, "status": "active"}]


async def test_p2_an_agent_without_goals_is_told_that_it_has_none(run: Run) -> None:
    with pytest.raises(Invalid, match=r"You have none yet\.$"):
        await run.call(set_goals, goals=[{"id": "q4", "status": "completed"}])


async def test_p3_plans_are_set_listed_and_deleted(run: Run) -> None:
    given = [
        {"name": "Ask again", "instruction": "Ask Sara.", "runAfter": "2 hours"},
        {"name": "Daily", "instruction": "Report.", "cron": "0 9 * * *"},
    ]
    result = await run.call(set_plans, plans=given)
    assert result["success"] is True
    once, daily = result["plans"]
    assert once["id"].startswith("pln_")
    assert once["nextAt"] == once["scheduledAt"]
    assert daily["nextAt"].endswith("T09:00:00.000Z")
    assert (await run.call(get_plans))["plans"] == [daily, once]
    assert await run.call(get_plans, status="completed") == {"success": True, "plans": []}
    deleted = await run.call(delete_plans, ids=[once["id"], "pln_nope"])
    assert deleted == {"success": True, "deleted": [once["id"]], "notFound": ["pln_nope"]}
    assert (await run.call(get_plans, status="active"))["plans"] == [daily]


async def test_t6_a_plan_set_by_a_run_at_depth_three_fires_at_depth_three(run: Run) -> None:
    deep = Run(run.db, run.agent_id, chain_depth=3)
    await deep.call(set_plans, plans=[{"name": "Later", "instruction": "Go on.", "runAfter": "1 day"}])
    depth = await run.db.read(lambda tx: tx.execute(sa.select(plans.c.chain_depth)).scalar_one())
    assert depth == 3


@pytest.mark.parametrize(
    ("times", "advice"),
    [
        ({}, "exactly one of runAfter, scheduledAt and cron; none is given"),
        ({"runAfter": "1 day", "cron": "0 9 * * *"}, "runAfter and cron are given"),
        ({"runAfter": "in a while"}, '"45 seconds", "30 minutes", "2 hours"'),
        ({"scheduledAt": "tomorrow"}, "with a time zone"),
        ({"scheduledAt": "2020-01-01T00:00:00Z"}, "it is now 20"),
        ({"cron": "0 9 30 2 *"}, r"five fields \(minute hour day month weekday\), read in UTC"),
    ],
)
async def test_p3_nonsense_is_an_error_that_tells_the_model_what_to_write(
    run: Run, times: dict[str, str], advice: str
) -> None:
    plan = {"name": "Later", "instruction": "Go on.", **times}
    with pytest.raises(Invalid, match=advice):
        await run.call(set_plans, plans=[plan])
    assert (await run.call(get_plans))["plans"] == []


async def test_null_is_the_same_as_left_out_since_models_write_it(run: Run) -> None:
    plan = {"id": None, "name": "Later", "instruction": "Go on.", "runAfter": "1 day", "cron": None}
    await run.call(set_plans, plans=[{**plan, "scheduledAt": None}])
    goal = {"id": None, "description": "Be kind", "status": None, "priority": None, "longTerm": None}
    (made,) = (await run.call(set_goals, goals=[goal]))["goals"]
    assert made["status"] == "active"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        (set_memories, {"memories": [{"key": "a", "value": "b", "ttl": 5}]}),
        (set_memories, {"memories": {"key": "a", "value": "b"}}),
        (set_goals, {"goals": [{"id": "a", "description": "b", "status": "done"}]}),
        (set_plans, {"plans": [{"name": "a", "instruction": "b", "every": "day"}]}),
        (get_plans, {"status": "waiting"}),
        (delete_plans, {}),
    ],
    ids=lambda value: value.name if isinstance(value, BuiltIn) else "",
)
def test_an_unknown_key_is_refused_and_not_ignored(tool: BuiltIn, given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        tool.input.model_validate(given)
