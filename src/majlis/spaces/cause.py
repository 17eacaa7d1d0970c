"""Causes: what a chain of messages and runs began with, and on whose behalf (O1, O2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import causes
from majlis.store.transactions import Tx

CauseKind = Literal["message", "service", "plan", "heartbeat"]

_INSERT = hot(causes.insert())


class Cause(NamedTuple):
    """Carried along every hop. Both are None for a chain that an earlier version began."""

    id: str | None
    # The author of the message, the service, or the person that the plan was made for. A heartbeat has none.
    person_id: str | None


UNKNOWN = Cause(None, None)


def begin_cause(
    tx: Tx, kind: CauseKind, person_id: str | None, message_id: str | None = None, parent_id: str | None = None
) -> Cause:
    [cause] = begin_causes(tx, kind, [(person_id, parent_id)], message_id)
    return cause


def begin_causes(
    tx: Tx, kind: CauseKind, origins: Sequence[tuple[str | None, str | None]], message_id: str | None = None
) -> list[Cause]:
    """One for each person and parent, with one statement."""
    begun = [
        {
            "id": ids.new("cau"),
            "kind": kind,
            "person_id": person_id,
            "parent_id": parent_id,
            "message_id": message_id,
            "created_at": tx.now,
        }
        for person_id, parent_id in origins
    ]
    if begun:
        tx.later(_INSERT, begun)
    return [Cause(each["id"], each["person_id"]) for each in begun]  # type: ignore[arg-type]
