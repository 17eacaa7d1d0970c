"""The memories of an agent: texts under keys that it chooses (P1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents import own_rows
from majlis.clock import iso
from majlis.spaces.post import checked_text
from majlis.store.tables import memories
from majlis.store.transactions import Tx

MAX_MEMORIES = 500
MAX_VALUE_BYTES = 16 * 1024
# Every run shows all memories.
MAX_CHARACTERS = 256 * 1024


class MemoryJson(TypedDict):
    key: str
    value: str
    updatedAt: str


class MemoriesSetJson(TypedDict):
    saved: list[str]
    cleared: list[str]


@dataclass(frozen=True, slots=True)
class NewMemory:
    __pydantic_config__ = own_rows.MODEL_INPUT

    key: str
    """A short name on one line, for example "q4_report". At most 128 characters."""
    value: str
    """The text to remember, at most 16 KB. An empty text deletes the memory."""


def set_memories(
    tx: Tx, agent_id: str, items: Sequence[NewMemory], source: own_rows.Source = own_rows.ADMIN
) -> MemoriesSetJson:
    """Writes memories by key, whether new or not. An empty value clears the key. A run that acts for a person changes
    the key of its own space only (G4). Otherwise a key has one value, and a correction by an admin keeps where it came
    from."""
    own_rows.check_count(items, "memories")
    given = [_checked(n, item) for n, item in enumerate(items)]
    own_rows.refuse_repeated((item.key for item in given), "memories")
    own_rows.lock_agent(tx, agent_id)
    saved = {item.key: item.value for item in given if item.value}
    cleared = [item.key for item in given if not item.value]
    _check_limits(tx, agent_id, saved, cleared)
    own = memories.c.agent_id == agent_id, source.sees(memories)
    sources = _sources(tx, agent_id, saved) if source == own_rows.ADMIN else {}
    gone = [*cleared, *(saved if source.limited_to is None else ())]
    tx.execute(memories.delete().where(*own, memories.c.key.in_(gone)))
    rows = [_row(tx, agent_id, key, value, sources.get(key, source)) for key, value in saved.items()]
    own_rows.upsert(tx, memories, rows)
    return {"saved": list(saved), "cleared": cleared}


def _sources(tx: Tx, agent_id: str, keys: Iterable[str]) -> dict[str, own_rows.Source]:
    rows = tx.all(sa.select(memories).where(memories.c.agent_id == agent_id, memories.c.key.in_(list(keys))))
    return {row.key: own_rows.Source(row.scope_id, row.person_id) for row in rows}


def _row(tx: Tx, agent_id: str, key: str, value: str, source: own_rows.Source) -> dict[str, Any]:
    kept = {"scope_id": source.scope_id, "person_id": source.person_id, "updated_at": tx.now}
    return {"agent_id": agent_id, "key": key, "value": value, **kept}


def list_memories(
    tx: Tx, agent_id: str, keys: Sequence[str] | None = None, source: own_rows.Source = own_rows.ADMIN
) -> list[MemoryJson]:
    """Sorted by key, so that prompts change only where a memory changes."""
    statement = sa.select(memories).where(memories.c.agent_id == agent_id, source.sees(memories))
    if keys is not None:
        statement = statement.where(memories.c.key.in_(own_rows.checked_lines(keys, "keys")))
    return [
        {"key": row.key, "value": row.value, "updatedAt": iso(row.updated_at)}
        # Sorted here: SQLite and PostgreSQL collate differently.
        for row in sorted(tx.all(statement), key=lambda row: (str(row.key), str(row.scope_id)))
    ]


def delete_memories(
    tx: Tx, agent_id: str, keys: Sequence[str], source: own_rows.Source = own_rows.ADMIN
) -> own_rows.DeletedJson:
    return own_rows.delete_own(tx, memories.c.key, agent_id, keys, "keys", source)


def _checked(n: int, item: NewMemory) -> NewMemory:
    key = own_rows.checked_line(item.key, f"memories.{n}.key")
    if not item.value.strip():
        return NewMemory(key, "")
    return NewMemory(key, checked_text(item.value, f"memories.{n}.value", MAX_VALUE_BYTES))


def _check_limits(tx: Tx, agent_id: str, saved: dict[str, str], cleared: list[str]) -> None:
    statement = sa.select(memories.c.key, sa.func.length(memories.c.value).label("size"))
    before = {row.key: row.size for row in tx.all(statement.where(memories.c.agent_id == agent_id))}
    after = {**before, **{key: len(value) for key, value in saved.items()}}
    for key in cleared:
        after.pop(key, None)
    advice = "Delete or shorten some first."
    own_rows.check_limit("memories", "memories", len(before), len(after), MAX_MEMORIES, advice)
    characters = sum(before.values()), sum(after.values())
    own_rows.check_limit("memories", "characters of memories", *characters, MAX_CHARACTERS, advice)
