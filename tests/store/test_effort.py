"""A gateway's standing work reads few rows, however many there are: polls, claims, sweeps, retention.

The database is filled with a history. Then each statement of the work is run again and its effort is measured: on
PostgreSQL by the rows that EXPLAIN ANALYZE saw, on SQLite by the steps of its virtual machine.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from majlis import clock, erase, janitor, retention
from majlis.audit import seal
from majlis.live import log
from majlis.push import queue as push
from majlis.push.fill import fill_queue
from majlis.runs.budget.park import release_parked
from majlis.runs.claim.capacity import known_agents
from majlis.runs.claim.claim import claim
from majlis.runs.claim.lease import new_owner
from majlis.runs.claim.poll import count_open, lost, poll
from majlis.runs.claim.resume import dead_owners
from majlis.runs.end.outside_leases import expire_leases
from majlis.runs.worker import renew, tick
from majlis.store import ids
from majlis.store.sqlite import SqliteDatabase
from majlis.store.transactions import Database, Tx
from majlis.webhooks import queue
from tests.world import World

ROWS = int(os.environ.get("TEST_ROWS", "6000"))
# A scan of a table would see all rows; on SQLite it takes at least five steps for each.
MOST_ROWS = ROWS // 3
MOST_STEPS = 5 * MOST_ROWS
DAY = 24 * 3_600_000

_N = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {rows})"
# Rows of yesterday that are over and kept. `{x}` is a number of seven digits.
_HISTORY = (
    "INSERT INTO messages (id, space_id, seq, sender_id, text, created_at) "
    "{n} SELECT '{msg}'||{x}, '{space}', 1000 + x, '{owner}', 'word', {at} FROM n",
    "INSERT INTO events (topic, seq, type, data, at) "
    "{n} SELECT '{space}', 1000 + x, 'message.created', '{{}}', {at} FROM n",
    "INSERT INTO runs (id, agent_id, status, trigger, created_at, ended_at) "
    "{n} SELECT '{run}'||{x}, '{agent}', 'completed', {json}, {at}, {at} FROM n",
    "INSERT INTO deliveries (id, agent_id, event_id, type, payload, state, run_id, created_at) "
    "{n} SELECT '{dlv}'||{x}, '{agent}', {x}, 'space_message', {json}, 'done', '{run}'||{x}, {at} FROM n",
    "INSERT INTO steps (run_id, n, kind, state, started_at) {n} SELECT '{run}'||{x}, 0, 'model', 'done', {at} FROM n",
    "INSERT INTO views (run_id, step, body, created_at) {n} SELECT '{run}'||{x}, 0, {body}, {at} FROM n",
    "INSERT INTO cycles (agent_id, n, run_id, messages, tokens, created_at) "
    "{n} SELECT '{agent}', x, '{run}'||{x}, {json}, 1, {at} FROM n",
    "INSERT INTO cards (id, run_id, call_id, step, agent_id, space_id, message_id, name, ui, purpose, result_schema, "
    "paused, chain_depth, state, deadline, created_at) {n} SELECT {x}, '{run}'||{x}, 'c', 0, '{agent}', '{space}', "
    "{x}, 'approve', 'approval', 'answer', {json}, true, 0, 'answered', {at}, {at} FROM n",
    "INSERT INTO asks (id, space_id, message_id, asker_id, kind, question, result_schema, need, state, deadline, "
    "created_at) {n} SELECT {x}, '{space}', {x}, '{owner}', 'text', '?', {json}, 1, 'answered', {at}, {at} FROM n",
    "INSERT INTO turns (id, space_id, request_id, message_id, chain_depth, created_at, finished_at) "
    "{n} SELECT {x}, '{space}', {x}, {x}, 0, {at}, {at} FROM n",
    "INSERT INTO tokens (id, entity_id, kind, hash, created_at, expires_at) "
    "{n} SELECT {x}, '{owner}', 'session', {x}, {at}, {at} + 999999999 FROM n",
    "INSERT INTO webhook_deliveries (id, webhook_id, space_id, seq, type, state, due_at, queued_at, created_at, "
    "ended_at) {n} SELECT {x}, 'whk_1', '{space}', 1000 + x, 't', 'delivered', {at}, {at}, {at}, {at} FROM n",
    "INSERT INTO audit (id, at, actor_id, actor_name, action, details, n, seal) "
    "{n} SELECT {x}, {at}, '{owner}', 'o', 'a', {json}, 1000000 + x, 's' FROM n",
    "INSERT INTO plans (id, agent_id, name, instruction, status, created_at) "
    "{n} SELECT {x}, '{agent}', {x}, 'i', 'completed', {at} FROM n",
)
# Rows as they are today: quiet spaces that a person follows, and pushes that are over.
_PUSHES = (
    "INSERT INTO push_subscriptions (id, entity_id, token_id, endpoint, p256dh, auth, origin, time_zone, created_at) "
    "VALUES ('psh_1', '{owner}', 'tok_1', 'https://example.org/', 'k', 'a', 'o', 'UTC', {at})",
    "INSERT INTO pushes (subscription_id, message_id, created_at) {n} SELECT 'psh_1', {x}, {today} FROM n",
    "INSERT INTO push_cursors (space_id, seq) VALUES ('{space}', 3)",
    "INSERT INTO spaces (id, name, event_at, created_at) {n} SELECT 'spc_'||{x}, 'quiet', {today}, {at} FROM n",
)
_WEBHOOK = (
    "INSERT INTO outgoing_webhooks (id, url, events, secret, creator_id, created_at) "
    "VALUES ('whk_1', 'https://example.org/', '[\"*\"]', 's', '{owner}', {at})"
)


@pytest.fixture
async def db(world: World) -> Database:
    agent = await world.agent("Scout", mind="consciousness")
    space = await world.owner.create_space("Project Alpha", agent)
    db, at = world.gateway.db, clock.now() - DAY
    sqlite = db.dialect == "sqlite"
    given = {
        "n": _N.format(rows=ROWS),
        "x": "CAST(1000000 + x AS TEXT)",
        "json": "'{}'" if sqlite else "CAST('{}' AS JSON)",
        "body": "x'00'" if sqlite else "CAST('x' AS BYTEA)",
        "at": at,
        "today": clock.now(),
        "space": space,
        "agent": agent.id,
        "owner": world.owner.id,
        **{kind: ids.first_at(kind, at)[:-7] for kind in ("msg", "run", "dlv")},
    }

    def fill(tx: Tx) -> None:
        for statement in (_WEBHOOK, *_HISTORY, *_PUSHES):
            text = statement.format(**given)
            tx.execute(sa.text(text.replace(":", "\\:")))
        head = {"seq": 1000 + ROWS, "id": space}
        tx.execute(sa.text("UPDATE spaces SET head_seq = :seq, event_seq = :seq WHERE id = :id"), head)
        cursor = "INSERT INTO webhook_cursors (webhook_id, space_id, seq) VALUES ('whk_1', :id, :seq)"
        tx.execute(sa.text(cursor), head)
        if not sqlite:
            tx.execute(sa.text("ANALYZE"))

    await db.write(fill)
    return db


async def test_standing_work_reads_few_rows(world: World, db: Database) -> None:
    owner, settings = new_owner(), world.gateway.settings
    kept = settings.model_copy(update=dict.fromkeys(("runs_kept_days", "cycles_kept_days"), 2))
    works: dict[str, Callable[[], Awaitable[Any]]] = {
        "poll": lambda: db.read(poll, owner),
        "dead owners": lambda: db.read(dead_owners),
        "our runs": lambda: db.read(lost, {"run_1": 1}),
        "renew": lambda: db.write(renew, owner, ["run_1"]),
        "claim": lambda: db.write(claim, owner, 8, (), ()),
        "tick": lambda: db.write(tick),
        "expired leases": lambda: db.write(expire_leases, 100),
        "parked": lambda: db.write(release_parked),
        "metrics": lambda: db.read(count_open),
        "heads": lambda: db.read(log.heads, ["spc_1"]),
        "webhooks": lambda: world.gateway.webhooks.send_due(),
        "queue": lambda: db.write(queue.fill_queue),
        "claim of webhooks": lambda: db.write(queue.claim_deliveries, (), 4),
        "push": lambda: db.read(push.has_work),
        "queue of pushes": lambda: db.write(fill_queue),
        "claim of pushes": lambda: db.write(push.claim_pushes, {}, 4),
        "clean-up of pushes": lambda: db.write(push.clean),
        "seal": lambda: db.read(seal._has_unsealed),
        "erase": lambda: erase.erase(db, deleted),
        "janitor": lambda: janitor.clean(db, settings),
        "files": lambda: janitor.collect_files(db, world.gateway.uploads.store),
        "retention": lambda: retention.delete_old(db, kept),
    }
    costly: list[str] = []
    at = clock.now()
    deleted: Any = SimpleNamespace(message_id="m", space_id="s", written_at=at, deleted_at=at, texts=None)
    for name, work in works.items():
        with captured(db) as statements:
            await work()
        assert statements, name
        for statement, values in statements:
            effort = await measure(db, statement, values)
            if effort is not None:
                costly.append(f"{name}: {effort}\n{statement}")
    assert costly == [], "\n\n".join(costly)


async def test_a_long_queue_of_an_agent_is_not_read_with_each_claim(world: World, db: Database) -> None:
    [agent] = [each["id"] for each in await world.owner.ok("GET", "/api/agents") if each["name"] == "Scout"]
    one, json = ids.new("dlv")[:-7], "'{}'" if db.dialect == "sqlite" else "CAST('{}' AS JSON)"
    queued = (
        "INSERT INTO deliveries (id, agent_id, event_id, type, payload, state, created_at) "
        f"{_N.format(rows=ROWS)} SELECT '{one}'||CAST(1000000 + x AS TEXT), '{agent}', 'q'||CAST(x AS TEXT), 'plan', "
        f"{json}, 'pending', {clock.now()} FROM n"
    )

    def fill(tx: Tx) -> None:
        tx.execute(sa.text(queued))
        if db.dialect == "postgresql":
            tx.execute(sa.text("ANALYZE deliveries"))

    await db.write(fill)
    with captured(db) as all_statements:
        await db.write(known_agents, {agent})
    # Others may run at the same time.
    statements = [each for each in all_statements if "FROM agents" in each[0] or "FROM deliveries" in each[0]]
    assert len(statements) == (1 if db.dialect == "sqlite" else 2)
    assert [await measure(db, *each) for each in statements] == [None] * len(statements)


@contextmanager
def captured(db: Database) -> Iterator[list[tuple[str, Any]]]:
    found: list[tuple[str, Any]] = []

    def note(_conn: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        found.append((statement, values))

    sa.event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        sa.event.remove(db.engine, "before_cursor_execute", note)


class _Undo(Exception):
    """The measured statement must change nothing."""


async def measure(db: Database, statement: str, values: Any) -> str | None:
    """What it cost, if that is too much."""
    if not statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
        return None
    told: list[str] = []

    def run(tx: Tx) -> None:
        if isinstance(db, SqliteDatabase):
            told.extend(_steps(tx, statement, values))
        else:
            told.extend(_rows(tx, statement, values))
        raise _Undo

    # What ran beside it, such as the sealing of the audit log, may refuse to happen twice.
    with suppress(sa.exc.IntegrityError), pytest.raises(_Undo):
        await db.write(run)
    return "; ".join(told) or None


def _steps(tx: Tx, statement: str, values: Any) -> list[str]:
    raw: Any = tx.conn.connection.driver_connection
    count = [0]

    def tick() -> int:
        count[0] += 100
        return 0

    raw.set_progress_handler(tick, 100)
    try:
        raw.execute(statement, values).fetchall()
    finally:
        raw.set_progress_handler(None, 0)
    if count[0] <= MOST_STEPS:
        return []
    plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    return [f"{count[0]} steps", *plan]


def _rows(tx: Tx, statement: str, values: Any) -> list[str]:
    found = tx.conn.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values).scalar_one()
    plan = orjson.loads(found) if isinstance(found, str) else found
    return [
        f"{rows:.0f} rows by {node['Node Type']} of {node.get('Relation Name')}"
        for node in _nodes(plan[0]["Plan"])
        if (rows := _seen(node)) > MOST_ROWS
    ]


def _seen(node: Any) -> float:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float((node["Actual Rows"] + removed) * node["Actual Loops"])


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for part in node.get("Plans", ()):
        yield from _nodes(part)
