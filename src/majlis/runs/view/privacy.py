"""Hides parts of a run's journal from members who are not administrators. They see what the agent did in spaces that
they may read, without the model's own words (M15) and the agent's private data (memories, goals, plans, searches, other
runs).

A step belongs to the space that it names, that its message is in, or that was active at that moment.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.runs.view.shapes import StepJson
from majlis.store.tables import agents, members, messages, spaces
from majlis.store.transactions import Tx

_KEPT_TO_ITSELF = frozenset(
    f"{verb}_{what}" for verb in ("get", "set", "delete") for what in ("memories", "goals", "plans")
) | {
    "get_my_runs",
    "stop_run",
    "absorb_run",
    "peek_inbox",
    "skip",
    "recall_cycles",
    "search_messages",
    "read_file",
    "explain_message",
}
_IN_A_SPACE = frozenset({"enter_space", "read_messages", "send_message", "send_files"})
_HIDDEN = {"hidden": "Only visible to the agent, the owner and admins."}
_ELSEWHERE = {"hidden": "Done in a space that you don't have access to."}


def hide_private(tx: Tx, caller: Caller, run: sa.Row[Any], journal: list[StepJson]) -> list[StepJson]:
    places = _places(tx, run, journal)
    readable = _readable(tx, caller, {place for place in places if place is not None})
    return [_shown(step, place in readable) for step, place in zip(journal, places, strict=True)]


def done_in(tx: Tx, run: sa.Row[Any], journal: list[StepJson], space_id: str) -> list[bool]:
    """For each step, whether a member of only this space may read it."""
    places = _places(tx, run, journal)
    return [not _is_private(step) and place == space_id for step, place in zip(journal, places, strict=True)]


def _places(tx: Tx, run: sa.Row[Any], journal: list[StepJson]) -> list[str | None]:
    """For each step its space, or None if unknown."""
    posted = _spaces_of_messages(tx, {found for step in journal if (found := _field(step["output"], "messageId"))})
    standing = _first_place(tx, run)
    places: list[str | None] = []
    for step in journal:
        # Only built-in tools name spaces; `spaceId` in another tool's input may mean anything.
        named = _named(step, posted) if step.get("name") in _IN_A_SPACE else None
        places.append(named or standing)
        if step.get("name") == "enter_space" and step["state"] == "done":
            standing = named or standing
    return places


def _named(step: StepJson, posted: dict[str, str]) -> str | None:
    if step.get("name") in ("send_message", "send_files"):
        return posted.get(_field(step["output"], "messageId") or "")
    return _field(step["input"], "spaceId") or _field(step["output"], "spaceId")


def _first_place(tx: Tx, run: sa.Row[Any]) -> str | None:
    """The trigger's space (A1). Where a consciousness was before (A5) is not recorded."""
    if run.cycle:
        return None
    config = tx.execute(sa.select(agents.c.config).where(agents.c.id == run.agent_id)).scalar_one()
    found: str | None = None if config.get("mind") == "consciousness" else run.trigger_space_id
    return found


def _spaces_of_messages(tx: Tx, asked: set[str]) -> dict[str, str]:
    if not asked:
        return {}
    rows = tx.all(sa.select(messages.c.id, messages.c.space_id).where(messages.c.id.in_(asked)))
    return {row.id: row.space_id for row in rows}


def _readable(tx: Tx, caller: Caller, asked: set[str]) -> set[str]:
    statement = (
        sa.select(members.c.space_id)
        .join(spaces, spaces.c.id == members.c.space_id)
        .where(members.c.entity_id == caller.id, members.c.space_id.in_(asked), spaces.c.deleted_at.is_(None))
    )
    return {row.space_id for row in tx.all(statement)}


def _shown(step: StepJson, readable: bool) -> StepJson:
    if _is_private(step):
        return {**step, "input": _HIDDEN, "output": _HIDDEN}
    return step if readable else {**step, "input": _ELSEWHERE, "output": _ELSEWHERE}


def _is_private(step: StepJson) -> bool:
    return step["kind"] == "model" or step.get("name") in _KEPT_TO_ITSELF


def _field(value: Any, name: str) -> str | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
