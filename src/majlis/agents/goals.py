"""The goals of an agent (P2). The agent chooses their ids, so that a later run can name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents import own_rows
from majlis.clock import iso
from majlis.errors import Invalid
from majlis.spaces.post import checked_text
from majlis.store import ids
from majlis.store.tables import goals
from majlis.store.transactions import Tx

MAX_GOALS = 200
MAX_ID = 64
MAX_DESCRIPTION_BYTES = 4 * 1024
MAX_PRIORITY = 1000
# For the list of goals in the error about an unknown id.
MAX_KNOWN = 50
MAX_SHORTENED = 60


class KnownGoalJson(TypedDict):
    id: str
    description: str
    status: own_rows.Progress


class GoalJson(KnownGoalJson):
    priority: int
    longTerm: bool
    updatedAt: str


@dataclass(frozen=True, slots=True)
class GoalChange:
    # None keeps the current value, or the default in a new goal.
    __pydantic_config__ = own_rows.MODEL_INPUT

    id: str | None = None
    """A short name of your choice, for example "q4". Use it again to change the goal. Omit it to have one generated."""
    description: str | None = None
    """What to achieve. Required for a new goal."""
    status: own_rows.Progress | None = None
    """Set it to completed when you reach the goal. A new goal is active."""
    priority: int | None = None
    """0 to 1000; higher comes first. A new goal has 0."""
    long_term: bool | None = None
    """Set it to true for a goal that is never finished, such as keeping something up to date."""


def set_goals(
    tx: Tx, agent_id: str, items: Sequence[GoalChange], source: own_rows.Source = own_rows.ADMIN
) -> list[GoalJson]:
    """A goal that the run may not see is not changed: the id then begins a new one (G4)."""
    own_rows.check_count(items, "goals")
    own_rows.lock_agent(tx, agent_id)
    before = {goal["id"]: goal for goal in _goals(tx, agent_id, source)}
    made = [_made(tx, agent_id, f"goals.{n}", item, before, source) for n, item in enumerate(items)]
    own_rows.refuse_repeated((goal["id"] for goal in made), "goals")
    after = len({*before, *(goal["id"] for goal in made)})
    advice = "Completed goals count, too. Delete some with delete_goals first."
    own_rows.check_limit("goals", "goals", len(before), after, MAX_GOALS, advice)
    own_rows.upsert(tx, goals, made)
    return [_goal_json(goal) for goal in made]


def list_goals(tx: Tx, agent_id: str, status: own_rows.Progress | None = None) -> list[GoalJson]:
    """Active ones first, then by priority."""
    return [_goal_json(goal) for goal in _goals(tx, agent_id) if status in (None, goal["status"])]


def delete_goals(
    tx: Tx, agent_id: str, goal_ids: Sequence[str], source: own_rows.Source = own_rows.ADMIN
) -> own_rows.DeletedJson:
    return own_rows.delete_own(tx, goals.c.id, agent_id, goal_ids, "ids", source)


def known_goals(tx: Tx, agent_id: str, source: own_rows.Source = own_rows.ADMIN) -> list[KnownGoalJson]:
    """The goals with their ids, for a model that gave an unknown id."""
    return _shortened(_goals(tx, agent_id, source))


def _goals(tx: Tx, agent_id: str, source: own_rows.Source = own_rows.ADMIN) -> list[dict[str, Any]]:
    own = sa.select(goals).where(goals.c.agent_id == agent_id, source.sees(goals))
    rows = [dict(row._mapping) for row in tx.all(own)]
    return sorted(rows, key=lambda goal: (goal["status"], -goal["priority"], goal["id"]))


def _shortened(known: Iterable[dict[str, Any]]) -> list[KnownGoalJson]:
    return [
        {"id": goal["id"], "description": _beginning(goal["description"]), "status": goal["status"]}
        for goal in list(known)[:MAX_KNOWN]
    ]


def _beginning(description: str) -> str:
    line = " ".join(description.split())
    return line if len(line) <= MAX_SHORTENED else f"{line[:MAX_SHORTENED]}…"


def _made(
    tx: Tx, agent_id: str, path: str, item: GoalChange, before: dict[str, dict[str, Any]], source: own_rows.Source
) -> dict[str, Any]:
    goal_id = ids.new("gol") if item.id is None else own_rows.checked_line(item.id, f"{path}.id", MAX_ID)
    description = item.description
    if description is None and goal_id not in before:
        known = "; ".join(f'"{goal["id"]}" is {goal["description"]}' for goal in _shortened(before.values()))
        raise Invalid(
            "description_missing",
            f'There is no goal "{goal_id}" yet, and a new goal needs a description: give {path}.description, '
            f"or the id of a goal you have. {f'Yours: {known}' if known else 'You have none yet'}.",
            {"path": f"{path}.description"},
        )
    if description is not None:
        description = checked_text(description.strip(), f"{path}.description", MAX_DESCRIPTION_BYTES)
    if item.priority is not None and not 0 <= item.priority <= MAX_PRIORITY:
        path = f"{path}.priority"
        raise Invalid("invalid_priority", f"{path} should be from 0 to {MAX_PRIORITY}.", {"path": path})
    new = {"agent_id": agent_id, "id": goal_id, "status": "active", "priority": 0, "long_term": False}
    new |= {"scope_id": source.scope_id, "person_id": source.person_id}
    changed = {
        "description": description,
        "status": item.status,
        "priority": item.priority,
        "long_term": item.long_term,
        "updated_at": tx.now,
    }
    return {**before.get(goal_id, new), **{name: value for name, value in changed.items() if value is not None}}


def _goal_json(goal: dict[str, Any]) -> GoalJson:
    return {
        "id": goal["id"],
        "description": goal["description"],
        "status": goal["status"],
        "priority": goal["priority"],
        "longTerm": goal["long_term"],
        "updatedAt": iso(goal["updated_at"]),
    }
