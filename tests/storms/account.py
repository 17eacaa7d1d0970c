"""The account after a storm: every message, delivery, run, wait and card, read straight from PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncpg

from tests.storms.people import TASK

_UNFINISHED = {
    "deliveries": "SELECT count(*) FROM deliveries WHERE state IN ('pending', 'taken')",
    "runs": "SELECT count(*) FROM runs WHERE ended_at IS NULL",
    "cards": "SELECT count(*) FROM cards WHERE state = 'open'",
}
_HOLES = {
    "messages": "SELECT s.id FROM spaces s WHERE head_seq <> (SELECT count(*) FROM messages WHERE space_id = s.id)",
    "events": "SELECT s.id FROM spaces s WHERE event_seq <> (SELECT count(*) FROM events WHERE topic = s.id)",
    "steps": "SELECT run_id FROM steps GROUP BY run_id HAVING count(*) <> max(n) + 1",
    "waits without an outcome": "SELECT id FROM runs WHERE status = 'completed' AND wait IS NOT NULL "
    "AND CAST(wait AS jsonb) -> 'outcome' IS NULL",
    "deliveries settled by a run that has not ended": "SELECT d.id FROM deliveries d JOIN runs r ON r.id = d.run_id "
    "WHERE d.state IN ('done', 'passed') AND r.ended_at IS NULL",
}


async def unfinished(db: asyncpg.Connection) -> dict[str, int]:
    found = {what: await db.fetchval(query) for what, query in _UNFINISHED.items()}
    return {what: count for what, count in found.items() if count}


_MARKS = (
    "SELECT count(*), coalesce(sum(fence), 0), count(ended_at) FROM runs",
    "SELECT count(*), coalesce(sum(attempts), 0), count(*) FILTER (WHERE state = 'taken') FROM deliveries",
    "SELECT count(*), count(ended_at) FROM steps",
)
_KEPT = ("runs", "steps", "deliveries", "messages", "cards", "events", "members")


async def progress(db: asyncpg.Connection) -> list[tuple[int, ...]]:
    """Changes whenever the gateway gets on with something."""
    return [tuple(await db.fetchrow(query)) for query in _MARKS]


async def keep(db: asyncpg.Connection, folder: Path) -> None:
    """The tables that explain a broken promise, as CSV."""
    for table in _KEPT:
        await db.copy_from_table(table, output=folder / f"{table}.csv", format="csv", header=True)


async def count_resumed(db: asyncpg.Connection) -> int:
    """How often a run was taken over."""
    found: int = await db.fetchval(
        "SELECT count(*) FROM events WHERE type = 'run.resumed' AND data LIKE '%\"takenOver\":true%'"
    )
    return found


async def problems(db: asyncpg.Connection, sent: dict[str, tuple[str, str]], agents: dict[str, str]) -> list[str]:
    """`sent` is, by client id, the text of a message and the id that was acknowledged."""
    found = [f"{what}: {row[0]}" for what, query in _HOLES.items() for row in await db.fetch(query)]
    for client_id, (text, acknowledged) in sent.items():
        stored = [row["id"] for row in await db.fetch("SELECT id FROM messages WHERE client_id = $1", client_id)]
        if stored != [acknowledged]:
            found.append(f"{text!r} was acknowledged as {acknowledged} and is stored as {stored}")
        if (task := TASK.match(text)) is not None:
            for name, agent_id in agents.items():
                found += await _of_agent(db, name, agent_id, task, acknowledged)
    return found


async def _of_agent(db: asyncpg.Connection, name: str, agent_id: str, task: Any, message_id: str) -> list[str]:
    found = []
    for verb in ("asks", "answers"):
        count = await db.fetchval("SELECT count(*) FROM messages WHERE text = $1", f"{name} {verb} {task[2]}")
        if count > 1:
            found.append(f"{name} {verb} {task[2]} {count} times")
        elif count == 0 and verb == "answers" and not await _has_failed(db, agent_id, message_id):
            found.append(f"{name} did not answer {task[0]!r}")
    return found


async def _has_failed(db: asyncpg.Connection, agent_id: str, message_id: str) -> bool:
    """Given up after all tries, and the space says so."""
    state = await db.fetchval(
        "SELECT state FROM deliveries WHERE agent_id = $1 AND message_id = $2", agent_id, message_id
    )
    notice = await db.fetchval("SELECT id FROM messages WHERE kind = 'notice' AND reply_to = $1", message_id)
    return state == "failed" and notice is not None
