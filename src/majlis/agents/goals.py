"""What an agent is working towards (P2). The agent chooses the ids, so that a later run can name a goal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.own_rows import (
    DeletedJson,
    Progress,
    checked_line,
    delete_own,
    lock_agent,
    refuse_crowd,
    refuse_repeated,
    upsert,
)
from majlis.clock import iso
from majlis.errors import Invalid
from majlis.spaces.text import checked_text
from majlis.store import ids
from majlis.store.tables import goals
from majlis.store.transactions import Tx

MAX_GOALS = 200
MAX_ID = 64
MAX_DESCRIPTION_BYTES = 4 * 1024
MAX_PRIORITY = 1000
# Of those that are listed when an id is not known.
MAX_KNOWN = 50
MAX_SHORTENED = 60


class GoalJson(TypedDict):
    id: str
    description: str
    status: Progress
    priority: int
    longTerm: bool
    updatedAt: str


class KnownGoalJson(TypedDict):
    id: str
    description: str
    status: Progress


@dataclass(frozen=True, slots=True)
class GoalChange:
    """What is None stays as it is, or has its default in a new goal."""

    id: str | None = None
    description: str | None = None
    status: Progress | None = None
    priority: int | None = None
    long_term: bool | None = None


def set_goals(tx: Tx, agent_id: str, items: Sequence[GoalChange]) -> list[GoalJson]:
    refuse_crowd(items, "goals")
    lock_agent(tx, agent_id)
    rows = tx.all(sa.select(goals).where(goals.c.agent_id == agent_id))
    before = {row.id: dict(row._mapping) for row in rows}
    made = [_made(tx, agent_id, f"goals.{n}", item, before) for n, item in enumerate(items)]
    refuse_repeated((goal["id"] for goal in made), "goals")
    _refuse_too_many(len(before), len({*before, *(goal["id"] for goal in made)}))
    upsert(tx, goals, made)
    return [_goal_json(goal) for goal in made]


def list_goals(tx: Tx, agent_id: str, status: Progress | None = None) -> list[GoalJson]:
    """Active ones first, then by priority."""
    statement = sa.select(goals).where(goals.c.agent_id == agent_id)
    if status is not None:
        statement = statement.where(goals.c.status == status)
    listed = [_goal_json(dict(row._mapping)) for row in tx.all(statement)]
    return sorted(listed, key=lambda goal: (goal["status"], -goal["priority"], goal["id"]))


def delete_goals(tx: Tx, agent_id: str, goal_ids: Sequence[str]) -> DeletedJson:
    return delete_own(tx, goals.c.id, agent_id, goal_ids, "ids")


def known_goals(tx: Tx, agent_id: str) -> list[KnownGoalJson]:
    """For one who gave an id that is not there: in a prompt goals stand without their ids, as in the seed (X6)."""
    rows = tx.all(sa.select(goals).where(goals.c.agent_id == agent_id))
    return _shortened(dict(row._mapping) for row in rows)


def _shortened(known: Iterable[dict[str, Any]]) -> list[KnownGoalJson]:
    """Those that are not reached yet first, and of each the beginning, on one line."""
    in_order = sorted(known, key=lambda goal: (goal["status"], -goal["priority"], goal["id"]))
    return [
        {
            "id": goal["id"],
            "description": _beginning(goal["description"]),
            "status": goal["status"],
        }
        for goal in in_order[:MAX_KNOWN]
    ]


def _beginning(description: str) -> str:
    line = " ".join(description.split())
    return line if len(line) <= MAX_SHORTENED else f"{line[:MAX_SHORTENED]}…"


def _made(tx: Tx, agent_id: str, path: str, item: GoalChange, before: dict[str, dict[str, Any]]) -> dict[str, Any]:
    goal_id = ids.new("gol") if item.id is None else checked_line(item.id, f"{path}.id", MAX_ID)
    start = before.get(goal_id) or _new_goal(agent_id, goal_id, path, item, before)
    changed = {
        "description": _description(path, item),
        "status": item.status,
        "priority": _priority(path, item),
        "long_term": item.long_term,
        "updated_at": tx.now,
    }
    return {**start, **{name: value for name, value in changed.items() if value is not None}}


def _new_goal(
    agent_id: str, goal_id: str, path: str, item: GoalChange, before: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    if item.description is None:
        known = "; ".join(f'"{goal["id"]}" is {goal["description"]}' for goal in _shortened(before.values()))
        raise Invalid(
            "description_missing",
            f'There is no goal "{goal_id}" yet, and a new goal needs a description: give {path}.description, '
            f"or the id of a goal you have. {f'Yours: {known}' if known else 'You have none yet'}.",
            {"path": f"{path}.description"},
        )
    return {"agent_id": agent_id, "id": goal_id, "status": "active", "priority": 0, "long_term": False}


def _description(path: str, item: GoalChange) -> str | None:
    if item.description is None:
        return None
    return checked_text(item.description.strip(), f"{path}.description", MAX_DESCRIPTION_BYTES)


def _priority(path: str, item: GoalChange) -> int | None:
    if item.priority is not None and not 0 <= item.priority <= MAX_PRIORITY:
        raise Invalid(
            "invalid_priority", f"{path}.priority should be from 0 to {MAX_PRIORITY}.", {"path": f"{path}.priority"}
        )
    return item.priority


def _refuse_too_many(before: int, after: int) -> None:
    if after > max(before, MAX_GOALS):
        raise Invalid(
            "too_many_goals",
            f"That would make {after} goals; at most {MAX_GOALS} are kept, completed ones included. "
            "Delete some with delete_goals first.",
            {"path": "goals", "limit": MAX_GOALS},
        )


def _goal_json(goal: dict[str, Any]) -> GoalJson:
    return {
        "id": goal["id"],
        "description": goal["description"],
        "status": goal["status"],
        "priority": goal["priority"],
        "longTerm": goal["long_term"],
        "updatedAt": iso(goal["updated_at"]),
    }
