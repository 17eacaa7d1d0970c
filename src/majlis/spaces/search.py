"""Full-text search over the caller's spaces. Every word of the query must match, in this or another English form; the
last may be incomplete. `search_query` describes phrases and filters.

Newest first: in a chat, time ranks better than a score, and both databases can stop early.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.entities.caller import Caller
from majlis.entities.names import name_key
from majlis.errors import Invalid
from majlis.spaces.access import access_space
from majlis.spaces.damaged_rows import Unreadable, all_sound, read_named, reading
from majlis.spaces.history import READABLE, SELECT_MESSAGES, access_message
from majlis.spaces.search_query import Query, Term, parse
from majlis.spaces.shapes import MessageJson, message_json
from majlis.spaces.snippet import SnippetPartJson, snippet
from majlis.store.tables import entities, messages, spaces
from majlis.store.transactions import Tx

_NEWEST_FIRST = SELECT_MESSAGES.where(messages.c.id.in_(sa.bindparam("ids", expanding=True))).order_by(
    messages.c.n.desc()
)


class SearchJson(TypedDict):
    """`snippets` has the part around the first match of each message, by its id."""

    messages: list[MessageJson]
    snippets: dict[str, list[SnippetPartJson]]
    hasMore: bool


def search(
    tx: Tx, caller: Caller, query: str, space_id: str | None = None, limit: int = 50, before: str | None = None
) -> SearchJson:
    wanted = parse(query)
    only: list[sa.ColumnElement[bool]] = []
    if space_id is not None:
        access_space(tx, caller, space_id)
        only.append(messages.c.space_id == space_id)
    if before is not None:
        only.append(messages.c.n < access_message(tx, caller, before).n)
    found, more = find_messages(tx, caller, wanted, limit, *only)
    return {
        "messages": [message_json(row) for row in found],
        "snippets": {row.id: snippet(row.text, wanted.terms) for row in found},
        "hasMore": more,
    }


def find_messages(
    tx: Tx, caller: Caller, wanted: Query, limit: int, *only: sa.ColumnElement[bool]
) -> tuple[Sequence[Any], bool]:
    """Rows of messages in the caller's spaces that also meet the conditions `only`, newest first, and whether there are
    more."""
    if wanted.is_empty:
        raise Invalid("empty_query", "Enter at least one word to search for.", {"path": "q"})
    matching = READABLE.where(*_conditions(wanted, caller), *only)
    if wanted.terms:
        matching = matching.where(_sqlite(wanted.terms) if tx.dialect == "sqlite" else _postgres(wanted.terms))
    return _page(tx, matching.order_by(messages.c.n.desc()), caller, limit)


def _conditions(wanted: Query, caller: Caller) -> list[sa.ColumnElement[bool]]:
    """The filters. An unknown name finds nothing."""
    found: list[sa.ColumnElement[bool]] = []
    if wanted.sender is not None:
        name = name_key(wanted.sender.removeprefix("@"))
        found.append(messages.c.sender_id == caller.id if name == "me" else entities.c.name_key == name)
    if wanted.space is not None:
        found.append(sa.func.lower(spaces.c.name) == wanted.space.removeprefix("#").lower())
    if wanted.before is not None:
        found.append(messages.c.created_at < wanted.before)
    if wanted.after is not None:
        found.append(messages.c.created_at >= wanted.after)
    return found


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


def _sqlite(terms: Sequence[Term]) -> sa.ColumnElement[bool]:
    def one(term: Term) -> str:
        forms = [f'"{" ".join(form)}"' for form in term.forms]
        forms[0] += "*" if term.open else ""
        return f"({' OR '.join(forms)})"

    pattern = " AND ".join(map(one, terms))
    found = sa.text("SELECT rowid FROM messages_fts WHERE messages_fts MATCH :words").bindparams(words=pattern)
    return messages.c.n.in_(found.columns(sa.column("rowid", sa.Integer)))


def _postgres(terms: Sequence[Term]) -> sa.ColumnElement[bool]:
    def one(term: Term) -> str:
        forms = [" <-> ".join(f"'{word}'" for word in form) for form in term.forms]
        forms[0] += ":*" if term.open else ""
        return f"({' | '.join(f'({form})' for form in forms)})"

    pattern = " & ".join(map(one, terms))
    return sa.text(
        "to_tsvector('simple'\\:\\:regconfig, regexp_replace(messages.text, '[^[\\:alnum\\:]]+', ' ', 'g'))"
        " @@ to_tsquery('simple', :words)"
    ).bindparams(words=pattern)  # type: ignore[return-value]
