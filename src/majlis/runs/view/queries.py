"""Access to runs. A run belongs to the space of its trigger: current members see it (A7), and so does its agent. Only
administrators see a run without a space."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Forbidden, NotFound
from majlis.runs.run import spaces_of_run
from majlis.runs.view.lens import budget_of
from majlis.runs.view.privacy import hide_private
from majlis.runs.view.shapes import (
    ContextJson,
    RequestJson,
    RunJson,
    RunPageJson,
    RunStatus,
    StepJson,
    run_json,
    step_json,
)
from majlis.spaces.access import access_space
from majlis.store.tables import entities, members, runs, spaces, steps, views
from majlis.store.tables.runs import NOT_OVER, has_status
from majlis.store.transactions import Tx

_person = entities.alias("person")
_SELECT = (
    sa.select(
        *runs.c,
        entities.c.name.label("agent_name"),
        _person.c.name.label("person_name"),
        _person.c.type.label("person_type"),
        sa.exists()
        .where(members.c.space_id == runs.c.trigger_space_id, members.c.entity_id == runs.c.person_id)
        .label("person_is_here"),
    )
    .join(entities, entities.c.id == runs.c.agent_id)
    .outerjoin(_person, _person.c.id == runs.c.person_id)
)

_AT_WORK = (
    sa.select(runs.c.id, runs.c.agent_id, runs.c.trigger, runs.c.trigger_space_id, runs.c.active_space_id)
    .where(NOT_OVER, runs.c.status == "running")
    .order_by(runs.c.id)
)

_USAGE = sa.select(steps.c.n, steps.c.usage).where(steps.c.run_id == sa.bindparam("run"), steps.c.kind == "model")


def access_run(tx: Tx, caller: Caller, run_id: str) -> sa.Row[Any]:
    """The run with its agent's `agent_name`."""
    row = tx.one(_SELECT.where(runs.c.id == run_id, sa.or_(*visible_runs(caller))))
    if row is None:
        raise NotFound("unknown_run", f"You don't have access to a run with the id {run_id}.")
    return row


def get_run(tx: Tx, caller: Caller, run_id: str) -> RunJson:
    return shown_run(caller, access_run(tx, caller, run_id))


def list_runs(
    tx: Tx,
    caller: Caller,
    agent_id: str | None = None,
    space_id: str | None = None,
    status: RunStatus | None = None,
    limit: int = 50,
    before: str | None = None,
) -> RunPageJson:
    """Newest first. `before` is the last run of the previous page; it need not exist any more."""
    asked: list[sa.ColumnElement[bool]] = []
    if agent_id is not None:
        asked.append(runs.c.agent_id == agent_id)
    if space_id is not None:
        access_space(tx, caller, space_id)
        asked.append(runs.c.trigger_space_id == space_id)
    if status is not None:
        asked.append(has_status(status))
    if before is not None:
        asked.append(runs.c.id < before)
    # Each condition finds its newest ids in an index of its own; only the page's rows are read in full.
    ways = [_newest(*asked, way, limit=limit + 1) for way in visible_runs(caller)]
    statement = _SELECT.where(runs.c.id.in_(sa.union_all(*ways))).order_by(runs.c.id.desc()).limit(limit + 1)
    rows = tx.all(statement)
    return {"runs": [shown_run(caller, row) for row in rows[:limit]], "hasMore": len(rows) > limit}


def list_steps(tx: Tx, caller: Caller, run_id: str) -> list[StepJson]:
    """The journal. Other members are not shown what the agent did elsewhere or keeps private."""
    run = access_run(tx, caller, run_id)
    journal = [step_json(row) for row in tx.all(sa.select(steps).where(steps.c.run_id == run_id).order_by(steps.c.n))]
    return journal if _knows_all(caller, run) else hide_private(tx, caller, run, journal)


def get_context(tx: Tx, caller: Caller, run_id: str) -> ContextJson:
    """The requests as sent to the model, byte for byte (X13). Views that were deleted by age are left out."""
    run = access_run(tx, caller, run_id)
    if not _knows_all(caller, run):
        raise Forbidden(
            "not_allowed",
            "A context shows the agent's memories and other spaces. Only the agent, the owner and administrators may "
            "read it.",
        )
    rows = tx.all(sa.select(views.c.step, views.c.body).where(views.c.run_id == run_id).order_by(views.c.step))
    usage = {row.n: row.usage for row in tx.all(_USAGE, {"run": run_id})}
    whole: dict[int, RequestJson] = {}
    budgets = []
    for row in rows:
        body = orjson.loads(zlib.decompress(row.body))
        if (request := _completed(row.step, body, whole)) is not None:
            whole[row.step] = request
            budgets.append(budget_of(request, body.get("lens"), usage.get(row.step)))
    return {"requests": list(whole.values()), "budgets": budgets}


def visible_runs(caller: Caller) -> list[sa.ColumnElement[bool]]:
    """The conditions under which this caller sees a run."""
    mine = (
        sa.select(members.c.space_id)
        .join(spaces, spaces.c.id == members.c.space_id)
        .where(members.c.entity_id == caller.id, spaces.c.deleted_at.is_(None))
    )
    ways: list[sa.ColumnElement[bool]] = [runs.c.trigger_space_id.in_(mine)]
    if caller.type == "agent":
        ways.append(runs.c.agent_id == caller.id)
    if caller.administers:
        ways.append(runs.c.trigger_space_id.is_(None))
    return ways


def _newest(*conditions: sa.ColumnElement[bool], limit: int) -> sa.Select[tuple[str]]:
    # In a subquery, since SQLite can order and limit only a whole union.
    ids = sa.select(runs.c.id).where(*conditions).order_by(runs.c.id.desc()).limit(limit).subquery()
    return sa.select(ids.c.id)


def shown_run(caller: Caller, row: sa.Row[Any]) -> RunJson:
    """A cycle may have events from several spaces. A member sees only those of the run's space, and its reason only if
    that cannot mention the others. The person for whom it runs may be a stranger to them (M14)."""
    run = run_json(row)
    if not (row.person_is_here or caller.id == row.person_id or _knows_all(caller, row)):
        run["person"] = None
    events = run["trigger"].get("events", ())
    here = [event for event in events if event.get("spaceId") == row.trigger_space_id]
    if len(here) == len(events) or _knows_all(caller, row):
        return run
    ended = "skipped" if run["reason"] not in (None, "limit") else run["reason"]
    return {**run, "trigger": {**run["trigger"], "events": here}, "reason": ended, "notes": []}


def _knows_all(caller: Caller, run: sa.Row[Any]) -> bool:
    return caller.administers or caller.id == run.agent_id


def _completed(step: int, body: Any, whole: dict[int, RequestJson]) -> RequestJson | None:
    """A view stores only what it adds to its base."""
    if body["base"] is None:
        return {"step": step, "messages": body["messages"], "tools": body["tools"] or []}
    base = whole.get(body["base"])
    return base and {"step": step, "messages": [*base["messages"], *body["messages"]], "tools": base["tools"]}


def spaces_of(tx: Tx, entity_id: str) -> list[str]:
    return [row.space_id for row in tx.all(sa.select(members.c.space_id).where(members.c.entity_id == entity_id))]


def active_agents(tx: Tx, space_ids: Sequence[str]) -> list[dict[str, str]]:
    """Few runs are running, however long the history is, so all of them are read and filtered here."""
    wanted = set(space_ids)
    return [
        {"agentId": run.agent_id, "runId": run.id, "spaceId": space}
        for run in tx.all(_AT_WORK)
        for space in sorted(spaces_of_run(run) & wanted)
    ]
