"""Full-text search over the caller's spaces. Every word of the query must match; the last may be incomplete.

Newest first: in a chat, time ranks better than a score, and both databases can stop early.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.entities.caller import Caller
from majlis.errors import Invalid
from majlis.spaces.access import access_space
from majlis.spaces.damaged_rows import Unreadable, all_sound, read_named, reading
from majlis.spaces.history import READABLE, SELECT_MESSAGES, access_message
from majlis.spaces.shapes import MessageJson, message_json
from majlis.store.tables import messages
from majlis.store.transactions import Tx

MAX_WORDS = 16

_NEWEST_FIRST = SELECT_MESSAGES.where(messages.c.id.in_(sa.bindparam("ids", expanding=True))).order_by(
    messages.c.n.desc()
)


class SearchJson(TypedDict):
    messages: list[MessageJson]
    hasMore: bool


def search(
    tx: Tx, caller: Caller, query: str, space_id: str | None = None, limit: int = 50, before: str | None = None
) -> SearchJson:
    words = _words(query)
    if not words:
        raise Invalid("empty_query", "Enter at least one word to search for.", {"path": "q"})
    if space_id is not None:
        access_space(tx, caller, space_id)
    matching = READABLE.where(_sqlite(words) if tx.dialect == "sqlite" else _postgres(words))
    if space_id is not None:
        matching = matching.where(messages.c.space_id == space_id)
    if before is not None:
        matching = matching.where(messages.c.n < access_message(tx, caller, before).n)
    found, more = _page(tx, matching.order_by(messages.c.n.desc()), caller, limit)
    return {"messages": [message_json(row) for row in found], "hasMore": more}


def _page(tx: Tx, matching: sa.Select[Any], caller: Caller, limit: int) -> tuple[Sequence[Any], bool]:
    """Leaves out damaged messages (R9)."""
    page, who = matching.limit(limit + 1), {"entity_id": caller.id}
    try:
        with reading():
            rows = all_sound(tx.all(page, who))
            return rows[:limit], len(rows) > limit
    except Unreadable:
        ids = [row.id for row in tx.all(page.with_only_columns(messages.c.id), who)]
        return read_named(tx, _NEWEST_FIRST, ids[:limit]), len(ids) > limit


def _words(query: str) -> list[str]:
    """Letters and digits, split like the indexes of both databases."""
    folded = unicodedata.normalize("NFC", query).casefold()
    return re.findall(r"[^\W_]+", folded)[:MAX_WORDS]


def _sqlite(words: list[str]) -> sa.ColumnElement[bool]:
    pattern = " ".join(f'"{word}"' for word in words) + "*"
    found = sa.text("SELECT rowid FROM messages_fts WHERE messages_fts MATCH :words").bindparams(words=pattern)
    return messages.c.n.in_(found.columns(sa.column("rowid", sa.Integer)))


def _postgres(words: list[str]) -> sa.ColumnElement[bool]:
    pattern = " & ".join(f"'{word}'" for word in words) + ":*"
    return sa.text(
        "to_tsvector('simple'\\:\\:regconfig, regexp_replace(messages.text, '[^[\\:alnum\\:]]+', ' ', 'g'))"
        " @@ to_tsquery('simple', :words)"
    ).bindparams(words=pattern)  # type: ignore[return-value]
