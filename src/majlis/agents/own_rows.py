"""Shared by memories, goals and plans: the rows that an agent keeps for itself, changed by one run at a time.

A call is checked completely before its first row is written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel
from sqlalchemy.dialects import postgresql, sqlite
from typing_extensions import TypedDict

from majlis.errors import Invalid, NotFound
from majlis.spaces.acts_for import spaces_of
from majlis.store.tables import agents
from majlis.store.transactions import Tx

MAX_ITEMS = 50
MAX_LINE = 128

Progress = Literal["active", "completed"]
# For what the model writes: the docstring of a field is its description for the model. Unknown keys are errors, so that
# the model notices a misspelt one.
MODEL_INPUT = ConfigDict(
    alias_generator=to_camel, extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
)


class Source(NamedTuple):
    """Where a row comes from, and whose rights bound the change (G4). The default is an admin of the gateway."""

    scope_id: str = ""
    person_id: str | None = None
    # None changes everything that the agent keeps.
    limited_to: str | None = None

    def sees(self, table: sa.Table) -> sa.ColumnElement[bool]:
        if self.limited_to is None:
            return sa.true()
        return kept_for(table, self.limited_to)


ADMIN = Source()


def kept_for(table: sa.Table, person: Any) -> sa.ColumnElement[bool]:
    """Rows of the person's spaces, of the person outside spaces, and of no known source."""
    scope = table.c.scope_id
    return sa.or_(scope == "", scope == person, scope.in_(spaces_of(person)))


class DeletedJson(TypedDict):
    deleted: list[str]
    notFound: list[str]


def lock_agent(tx: Tx, agent_id: str) -> str:
    """Serializes the runs of one agent. Returns its time zone.

    A weak lock: inserts that reference the agent (a delivery, a run) do not wait for it."""
    timezone = agents.c.config["timezone"].as_string()
    statement = sa.select(timezone.label("timezone")).where(agents.c.id == agent_id)
    row = tx.one(statement.with_for_update(key_share=True))
    if row is None:
        raise NotFound("unknown_agent", f"There is no agent {agent_id}.")
    return str(row.timezone)


def check_count(items: Sequence[object], path: str) -> None:
    if not 1 <= len(items) <= MAX_ITEMS:
        problem = f"{path} has {len(items)} entries; give 1 to {MAX_ITEMS} per call."
        raise Invalid("wrong_number", problem, {"path": path})


def check_limit(path: str, what: str, before: int, after: int, limit: int, advice: str) -> None:
    """An agent above the limit (after an import) may still shrink."""
    if after > max(before, limit):
        problem = f"That would make {after} {what}; at most {limit} are kept. {advice}"
        raise Invalid(f"too_many_{path}", problem, {"path": path, "limit": limit})


def refuse_repeated(names: Iterable[str], path: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Invalid("given_twice", f'{path} has "{name}" twice; give it once.', {"path": path})
        seen.add(name)


def checked_line(text: str, path: str, max_length: int = MAX_LINE) -> str:
    """A single line: prompts show these rows line by line."""
    line = text.strip()
    bad = next((each for each in line if unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp")), None)
    if not 1 <= len(line) <= max_length:
        problem = f"must have 1 to {max_length} characters; this one has {len(line)}"
    elif bad is not None:
        problem = f"must be one line without control characters; remove U+{ord(bad):04X}"
    else:
        return line
    raise Invalid("invalid_line", f"{path} {problem}.", {"path": path})


def checked_lines(names: Sequence[str], path: str) -> list[str]:
    check_count(names, path)
    return [checked_line(name, f"{path}.{n}") for n, name in enumerate(names)]


def upsert(tx: Tx, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each row has all columns of the table."""
    if not rows:
        return
    insert = sqlite.insert(table) if tx.dialect == "sqlite" else postgresql.insert(table)
    changed = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    tx.execute(insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed), rows)


def delete_own(
    tx: Tx, column: sa.Column[str], agent_id: str, names: Sequence[str], path: str, source: Source = ADMIN
) -> DeletedJson:
    """An unknown name is reported, not an error: it may be a typo."""
    lock_agent(tx, agent_id)
    asked = list(dict.fromkeys(checked_lines(names, path)))
    table = column.table
    assert isinstance(table, sa.Table)
    own = table.delete().where(table.c.agent_id == agent_id, column.in_(asked), source.sees(table)).returning(column)
    found = {row[0] for row in tx.all(own)}
    return {
        "deleted": [name for name in asked if name in found],
        "notFound": [name for name in asked if name not in found],
    }
