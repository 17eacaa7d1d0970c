"""Edited messages as an agent sees them (L1): a text that it was shown stays, and the edit is a line of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from majlis.minds.timeline.scene import Edit, Message
from majlis.store.tables import versions
from majlis.store.transactions import Tx

_EDITS = (
    sa.select(versions)
    .where(versions.c.message_id.in_(sa.bindparam("messages", expanding=True)))
    .order_by(versions.c.message_id, versions.c.n)
)


def as_shown(tx: Tx, agent_id: str, found: Sequence[Message]) -> tuple[list[Message], list[Edit]]:
    """The messages with the texts that the agent was shown first, and the edits since then."""
    kept: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for row in tx.all(_EDITS, {"messages": [each.id for each in found if _is_edited(each)]}):
        kept[row.message_id].append(row)
    shown: list[Message] = []
    edits: list[Edit] = []
    for message in found:
        first, later = _since_seen(message, kept.get(message.id, ()), agent_id)
        shown.append(first)
        edits += later
    return shown, edits


def placed(edits: Iterable[Edit], history: Sequence[Message]) -> Mapping[int, Sequence[Edit]]:
    """The edits by the number of the message that they follow in the history."""
    numbers = sorted(message.seq for message in history)
    places: dict[int, list[Edit]] = defaultdict(list)
    for edit in sorted(edits, key=lambda edit: (edit.at_seq, edit.at, edit.message.seq)):
        before = [seq for seq in numbers if seq <= edit.at_seq]
        if before:
            places[before[-1]].append(edit)
    return places


def _since_seen(message: Message, rows: Sequence[sa.Row[Any]], agent_id: str) -> tuple[Message, list[Edit]]:
    start = next((n for n, row in enumerate(rows) if agent_id in row.seen_by), None)
    if start is None:
        return message, []
    texts = [*(row.text for row in rows[start + 1 :]), message.text]
    edits = [Edit(message, row.at_seq, row.replaced_at, text) for row, text in zip(rows[start:], texts, strict=True)]
    return replace(message, text=rows[start].text), edits


def _is_edited(message: Message) -> bool:
    return message.edited_at is not None and message.deleted_by is None
