"""Why messages were sent (F6), for pages of messages: one read for a page, limited to what the run may read (G3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from majlis.runs.calls.behalf import readable_by_run
from majlis.runs.run import Run
from majlis.shorten import shorten_text
from majlis.spaces.acts_for import spaces_of
from majlis.spaces.damaged_rows import read_named
from majlis.store.tables import entities, messages, spaces
from majlis.store.transactions import Tx

_MAX_TEXT = 300
_SOURCES = (
    sa.select(
        messages.c.id,
        messages.c.text,
        messages.c.deleted_at,
        entities.c.name.label("sender_name"),
        spaces.c.name.label("space_name"),
    )
    .join(entities, entities.c.id == messages.c.sender_id)
    .join(spaces, spaces.c.id == messages.c.space_id)
    .where(messages.c.id.in_(sa.bindparam("ids", expanding=True)), spaces.c.deleted_at.is_(None))
)


def read_origins(tx: Tx, run: Run, rows: Iterable[sa.Row[Any]]) -> dict[str, dict[str, Any]]:
    """The origins by message id. Messages whose origin the run may not read have none."""
    kept: dict[str, tuple[str, Mapping[str, Any]]] = {
        row.id: (row.sender_id, row.origin) for row in rows if row.origin and row.deleted_by is None
    }
    wanted = {str(origin["sourceEvent"]) for _, origin in kept.values() if origin.get("sourceEvent")}
    found: dict[str, Any] = {}
    if wanted:
        mine = messages.c.space_id.in_(spaces_of(run.agent_id))
        readable = _SOURCES.where(mine, readable_by_run(run))
        found = {row.id: row for row in read_named(tx, readable, sorted(wanted))}
    origins = {each: _origin(run, sender, origin, found) for each, (sender, origin) in kept.items()}
    return {each: origin for each, origin in origins.items() if origin is not None}


def _origin(run: Run, sender_id: str, origin: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any] | None:
    if "kind" in origin:
        # The name of a plan or service may be private to the agent, or to another person.
        name = origin.get("name") if sender_id == run.agent_id and run.limited_to is None else None
        return {"kind": origin["kind"], **({"name": name} if name else {})}
    row = found.get(str(origin.get("sourceEvent")))
    if row is None:
        return None
    said = {} if row.deleted_at is not None else {"sourceText": shorten_text(row.text, _MAX_TEXT)}
    return {"sourceEvent": row.id, "sourceSpaceName": row.space_name, "sourceSender": row.sender_name, **said}
