"""The rows and columns that an export contains: the whole gateway, or one space.

The export of a space leaves out what its agents keep for all their spaces (memories, goals, plans, cycles), roles on
the gateway, and references to other spaces. A key that is left out is neither written nor compared on import. The
gateway's system entity has the same id everywhere and is not exported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from majlis.entities.caller import SYSTEM
from majlis.errors import ConfigurationError
from majlis.store.tables import (
    ask_answers,
    asks,
    attachments,
    blobs,
    cards,
    deliveries,
    files,
    members,
    messages,
    phases,
    runs,
    spaces,
    steps,
)
from majlis.store.transactions import Tx
from majlis.transfer.tables import Field, Kind

ScopeName = Literal["gateway", "space"]
Values = dict[str, Any]

# Errors that reading a damaged row can raise.
DAMAGE = (ValueError, TypeError, OverflowError, sa.exc.OperationalError)
# The cause of a chain may lie in another space.
_CHAIN = {"cause_id", "person_id"}
HIDDEN = {"hidden": "Not exported: it is private to the agent or belongs to another space."}


@dataclass(frozen=True, slots=True)
class ExportScope:
    """`space_id` is None for the whole gateway."""

    space_id: str | None = None

    @property
    def name(self) -> ScopeName:
        return "gateway" if self.space_id is None else "space"


def find_scope(tx: Tx, space: str | None) -> ExportScope:
    """Finds a space by id or by name. Names of spaces are not unique."""
    if space is None:
        return ExportScope()
    wanted = unicodedata.normalize("NFC", space)
    named = sa.or_(spaces.c.id == wanted, spaces.c.name == wanted)
    found = [row.id for row in tx.all(sa.select(spaces.c.id).where(spaces.c.deleted_at.is_(None), named).limit(9))]
    if not found:
        raise ConfigurationError(f'There is no space "{space}". Use its id or its exact name.')
    if len(found) > 1:
        raise ConfigurationError(f'Several spaces are named "{space}": {", ".join(found)}. Use the id of one.')
    return ExportScope(found[0])


def parts(kind: Kind, scope: ExportScope) -> Iterator[sa.ColumnElement[bool]]:
    """Conditions whose rows follow each other in the file. Owners come first: the import into a fresh gateway needs
    them before all other entities (see `replace_owner`)."""
    chosen = _chosen(kind, scope)
    if kind.name == "entity" and scope.space_id is None:
        owner = sa.and_(kind.table.c.role == "owner", kind.table.c.deleted_at.is_(None))
        yield owner
        yield sa.and_(sa.not_(owner), kind.table.c.id != SYSTEM.id)
    elif chosen is not None:
        yield chosen


def selected(kind: Kind, scope: ExportScope) -> list[tuple[Field, sa.ColumnElement[Any], bool]]:
    """Each field with the expression to read, and True if the key is left out when it is null."""
    if scope.space_id is None:
        return [(each, each.column, False) for each in kind.fields]
    left_out = {"role"} if kind.name == "entity" else _CHAIN
    return [(each, *_within(each, scope.space_id)) for each in kind.fields if each.name not in left_out]


def ordered(kind: Kind, scope: ExportScope) -> tuple[sa.Column[Any], ...]:
    """Messages in insertion order, which search relies on; within one space that is the order of numbers."""
    if kind.name == "message":
        return (kind.table.c.n,) if scope.space_id is None else (kind.table.c.seq,)
    return tuple(kind.table.primary_key.columns)


def _chosen(kind: Kind, scope: ExportScope) -> sa.ColumnElement[bool] | None:
    table = kind.table
    if scope.space_id is None:
        if kind.name == "file":
            return table.c.id.in_(_carried(None))
        if kind.name not in ("member", "message", "version", "attachment", "phase", "turn", "card", "ask", "askAnswer"):
            return sa.true()
        # Only the tombstone of a deleted space is exported.
        # NOT IN keeps the planner from visiting space by space and sorting for each page.
        return table.c.space_id.not_in(sa.select(spaces.c.id).where(spaces.c.deleted_at.is_not(None)))
    match kind.name:
        case "preferences" | "memory" | "goal" | "plan" | "cycle" | "cause" | "budget":
            return None
        case "entity" | "agent":
            return sa.and_(table.c.id.in_(_participants(scope.space_id)), table.c.id != SYSTEM.id)
        case "picture":
            return table.c.entity_id.in_(_participants(scope.space_id))
        case "space":
            return table.c.id == scope.space_id
        case "file":
            return table.c.id.in_(_carried(scope.space_id))
        case "run":
            return table.c.trigger_space_id == scope.space_id
        case "step":
            return table.c.run_id.in_(_runs(scope.space_id))
        case "answer":
            here = sa.select(messages.c.id).where(messages.c.space_id == scope.space_id)
            return sa.and_(table.c.message_id.in_(here), table.c.run_id.in_(_runs(scope.space_id)))
        case "card":
            return sa.and_(table.c.space_id == scope.space_id, table.c.run_id.in_(_runs(scope.space_id)))
    return table.c.space_id == scope.space_id


def _participants(space_id: str) -> sa.CompoundSelect[str]:
    """All entities that other lines of the space's export refer to."""
    columns = [
        (members.c.entity_id, members.c.space_id),
        (messages.c.sender_id, messages.c.space_id),
        (phases.c.entity_id, phases.c.space_id),
        (spaces.c.orchestrator_id, spaces.c.id),
        (deliveries.c.agent_id, deliveries.c.space_id),
        (runs.c.agent_id, runs.c.trigger_space_id),
        (cards.c.answered_by, cards.c.space_id),
        (asks.c.asker_id, asks.c.space_id),
        (ask_answers.c.entity_id, ask_answers.c.space_id),
    ]
    uploaders = sa.select(files.c.uploader_id).where(files.c.id.in_(_carried(space_id)))
    return sa.union(*(sa.select(who).where(where == space_id, who.is_not(None)) for who, where in columns), uploaders)


def _carried(space_id: str | None) -> sa.Select[tuple[str]]:
    """The files of the messages of a space, or of all spaces. Unused uploads disappear after a day."""
    carried = sa.select(attachments.c.file_id)
    if space_id is not None:
        return carried.where(attachments.c.space_id == space_id)
    return carried.where(attachments.c.space_id.not_in(sa.select(spaces.c.id).where(spaces.c.deleted_at.is_not(None))))


def contents(scope: ExportScope) -> sa.Select[tuple[str, str, int]]:
    """The content of these files in the file store."""
    return (
        sa.select(blobs.c.name, blobs.c.sha256, blobs.c.bytes)
        .where(blobs.c.name.in_(sa.select(files.c.blob).where(files.c.id.in_(_carried(scope.space_id)))))
        .order_by(blobs.c.name)
    )


def _within(each: Field, space_id: str) -> tuple[sa.ColumnElement[Any], bool]:
    """A nullable reference is exported only if it refers to this space or one of its runs."""
    target = each.target.name if each.target is not None else None
    if not each.column.nullable or target not in ("spaces", "runs"):
        return each.column, False
    inside = each.column == space_id if target == "spaces" else each.column.in_(_runs(space_id))
    return sa.case((inside, each.column)), True


def _runs(space_id: str) -> sa.Select[tuple[str]]:
    return sa.select(runs.c.id).where(runs.c.trigger_space_id == space_id)


class Redaction:
    """Removes from a row what belongs to other spaces: events of a cycle, the origin of a message, and steps of a run
    that a member of the space may not see (`runs/view/privacy.py`)."""

    def __init__(self, tx: Tx, space_id: str) -> None:
        self._tx = tx
        self._space_id = space_id
        # All steps of a run come one after the other.
        self._run_id: str | None = None
        self._visible: set[int] = set()

    def apply(self, kind: str, values: Values) -> Values:
        """Values by column, without the ones to leave out."""
        match kind:
            case "message":
                return _without_foreign_origin(values, self._space_id)
            case "run":
                return _run(values, self._space_id)
            case "file":
                # It may have been uploaded elsewhere and forwarded here.
                return {**values, "space_id": self._space_id}
            case "step":
                return values if self._is_visible(values) else _hidden(values)
        return values

    def _is_visible(self, step: Values) -> bool:
        if step["run_id"] != self._run_id:
            self._run_id, self._visible = step["run_id"], self._visible_steps(step["run_id"])
        return step["n"] in self._visible

    def _visible_steps(self, run_id: str) -> set[int]:
        """None if one of them is damaged: the agent's active space after that step is then unknown."""
        # Imported here, because only the export of one space needs these modules, which load slowly.
        from majlis.runs.view.privacy import done_in
        from majlis.runs.view.shapes import step_json

        try:
            run = self._tx.execute(sa.select(runs).where(runs.c.id == run_id)).one()
            rows = self._tx.all(sa.select(steps).where(steps.c.run_id == run_id).order_by(steps.c.n))
        except DAMAGE:
            return set()
        visible = done_in(self._tx, run, [step_json(row) for row in rows], self._space_id)
        return {row.n for row, is_visible in zip(rows, visible, strict=True) if is_visible}


def same_after_redaction(kind: str, name: str, values: Values, row: Mapping[Any, Any]) -> bool:
    """Compares a line with what the export of the row's space would contain."""
    if kind == "run" and name == "trigger":
        return bool(values["trigger"] == _events_of_space(row["trigger"], row["trigger_space_id"]))
    if kind == "file" and name == "space_id":
        return True
    output = values.get("output")
    hidden = isinstance(output, dict) and output.keys() == HIDDEN.keys()
    return kind == "step" and name in ("state", "input", "output") and hidden


def _events_of_space(trigger: Any, space_id: str | None) -> Any:
    if not isinstance(trigger, dict) or not isinstance(trigger.get("events"), list):
        return trigger
    here = [event for event in trigger["events"] if isinstance(event, dict) and event.get("spaceId") == space_id]
    return {**trigger, "events": here}


def _without_foreign_origin(values: Values, space_id: str) -> Values:
    origin = values.get("origin")
    if not isinstance(origin, dict) or origin.get("sourceSpace") == space_id:
        return values
    return {name: value for name, value in values.items() if name != "origin"}


def _run(values: Values, space_id: str) -> Values:
    trigger = _events_of_space(values["trigger"], space_id)
    if trigger == values["trigger"]:
        return values
    # The notes of a cycle, and the reason why it was skipped, may mention any of its events.
    private = {"notes"} if values["reason"] in (None, "limit") else {"notes", "reason"}
    return {**{name: value for name, value in values.items() if name not in private}, "trigger": trigger}


def _hidden(values: Values) -> Values:
    """A call without its input cannot be made again, so it has ended."""
    state = "error" if values["state"] == "started" else values["state"]
    return {**values, "state": state, "input": HIDDEN, "output": HIDDEN}
