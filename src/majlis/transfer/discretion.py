"""What of a row belongs to one space, where a column can hold more than that: a cycle's events come from everywhere, an
agent looks into other spaces while it works, and a message may say what it was sent for.

Of a run's journal the space's export has what a plain member of that space may read (`runs/privacy.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from majlis.store.tables import runs, steps
from majlis.store.transactions import Tx
from majlis.transfer.damage import DAMAGE

STAYED = {"hidden": "It stayed where this space was exported from: it is the agent's own, or of another space."}
# Of a step: all that is said in a file of what stayed.
_OF_A_CALL = ("state", "input", "output")

Values = dict[str, Any]


class Discretion:
    def __init__(self, tx: Tx, space_id: str) -> None:
        self._tx = tx
        self._space_id = space_id
        # The steps of one run follow one another.
        self._run_id: str | None = None
        self._told: set[int] = set()

    def of_space(self, kind: str, values: Values) -> Values:
        """By column. What is left out is not said."""
        match kind:
            case "message":
                return _without_foreign_origin(values, self._space_id)
            case "run":
                return _run(values, self._space_id)
            case "step":
                return values if self._is_told(values) else _stayed(values)
        return values

    def _is_told(self, step: Values) -> bool:
        if step["run_id"] != self._run_id:
            self._run_id, self._told = step["run_id"], self._steps_told(step["run_id"])
        return step["n"] in self._told

    def _steps_told(self, run_id: str) -> set[int]:
        """None where one of them is damaged: without it nobody knows where the agent stood after it."""
        # Only the export of one space needs them, and they are much to load.
        from majlis.runs.view.privacy import done_in
        from majlis.runs.view.shapes import step_json

        try:
            run = self._tx.execute(sa.select(runs).where(runs.c.id == run_id)).one()
            rows = self._tx.all(sa.select(steps).where(steps.c.run_id == run_id).order_by(steps.c.n))
        except DAMAGE:
            return set()
        told = done_in(self._tx, run, [step_json(row) for row in rows], self._space_id)
        return {row.n for row, is_told in zip(rows, told, strict=True) if is_told}


def events_of_space(trigger: Any, space_id: str | None) -> Any:
    """A trigger without the events of other spaces."""
    if not isinstance(trigger, dict) or not isinstance(trigger.get("events"), list):
        return trigger
    here = [event for event in trigger["events"] if isinstance(event, dict) and event.get("spaceId") == space_id]
    return {**trigger, "events": here}


def same_but_for_what_stayed(kind: str, name: str, said: Values, row: Mapping[Any, Any]) -> bool:
    """Whether a line says of this row what the export of its space would."""
    if kind == "run" and name == "trigger":
        return bool(said["trigger"] == events_of_space(row["trigger"], row["trigger_space_id"]))
    return kind == "step" and name in _OF_A_CALL and said.get("output") == STAYED


def _without_foreign_origin(values: Values, space_id: str) -> Values:
    origin = values.get("origin")
    if not isinstance(origin, dict) or origin.get("sourceSpace") == space_id:
        return values
    return {name: value for name, value in values.items() if name != "origin"}


def _run(values: Values, space_id: str) -> Values:
    trigger = events_of_space(values["trigger"], space_id)
    if trigger == values["trigger"]:
        return values
    # The reason for skipping a cycle, and remarks on one, may speak of any of its events.
    private = {"notes"} if values["reason"] in (None, "limit") else {"notes", "reason"}
    return {**{name: value for name, value in values.items() if name not in private}, "trigger": trigger}


def _stayed(values: Values) -> Values:
    """Over, whatever it was: nobody makes a call again whose input they do not have."""
    state = "error" if values["state"] == "started" else values["state"]
    return {**values, "state": state, "input": STAYED, "output": STAYED}
