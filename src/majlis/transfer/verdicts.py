"""What became of a line."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from majlis.transfer.tables import Kind

Outcome = Literal["imported", "present", "updated", "setAside"]

# Which row was set aside (table and id), and why: for the reason of whatever depends on it.
Asides = MutableMapping[tuple[str, str], str]

_REASONS = {
    "name_key": "its name is taken here by another entity; rename one of the two and repeat the import",
    "external_id": "its externalId is taken here by another entity",
    "uq_messages_space_id_seq": "another message has its number in this space here",
    "messages.seq": "another message has its number in this space here",
    "client_id": "its sender has used its clientId for another message of this space here",
    "session_id": "its sessionId is bound elsewhere here",
    "event_id": "its event is owed to this agent here already, under another id",
}


class Verdict(NamedTuple):
    outcome: Outcome
    reason: str = ""


Verdicts = dict[int, Verdict]
"""By line number."""

IMPORTED = Verdict("imported")
PRESENT = Verdict("present")
UPDATED = Verdict("updated")


def set_aside(reason: str) -> Verdict:
    return Verdict("setAside", reason)


def remember(asides: Asides, kind: Kind, values: Mapping[str, Any], line: int, reason: str) -> None:
    row_id = values.get("id")
    if isinstance(row_id, str):
        asides[kind.table.name, row_id] = f"line {line}: {reason}"


def refusal(error: sa.exc.DBAPIError) -> str | None:
    """The database's own words, or ours for the usual ones; None when it is not the row's fault."""
    state = str(getattr(error.orig, "sqlstate", ""))
    if not isinstance(error, sa.exc.IntegrityError) and not state.startswith("22"):
        return None
    text = str(error.orig).strip().splitlines()[0]
    return next((reason for word, reason in _REASONS.items() if word in text), f"the database refuses it: {text}")
