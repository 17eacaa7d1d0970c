"""A gateway with data of every kind, and helpers to export it, import it and count its rows."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from majlis.agents.config.config import dump_config, parse_config
from majlis.entities.caller import Caller
from majlis.entities.entities import add_entity
from majlis.entities.pictures import set_picture
from majlis.entities.preferences import Preferences, change_preferences
from majlis.files.store import FileStore
from majlis.foundation import find_owner, owner_caller
from majlis.inbox.deliver import post_message
from majlis.spaces.members import add_member
from majlis.spaces.phases import PhaseChange, change_phase
from majlis.spaces.post import Draft
from majlis.spaces.read_position import mark_read
from majlis.spaces.spaces import create_space
from majlis.store import ids
from majlis.store.tables import (
    agents,
    budgets,
    cards,
    cycles,
    deliveries,
    goals,
    memories,
    metadata,
    plans,
    runs,
    spaces,
    steps,
    turns,
    wait_answers,
)
from majlis.store.transactions import Database, Tx
from majlis.transfer.export import export
from majlis.transfer.file import Rejected, Source
from majlis.transfer.import_ import import_file
from majlis.transfer.report import Progress, Summary

Said = dict[str, Any]


@dataclass(frozen=True)
class House:
    owner: str
    sara: str
    scout: str
    alpha: str
    beta: str
    run: str
    waiting: str


def furnish(tx: Tx) -> House:
    """Two people, an agent, two spaces with words in many scripts, cursors, phases, and work of every kind."""
    owner = owner_caller(tx, find_owner(tx) or "")
    sara = Caller(add_entity(tx, "human", "Sara", "x-1")["id"], "Sara", "human", "member", "")
    scout = Caller(add_entity(tx, "agent", "Scout")["id"], "Scout", "agent", "member", "")
    config = dump_config(parse_config({"instructions": "Help. \u202e", "limits": {"steps": 7}}))
    tx.execute(agents.insert(), {"id": scout.id, "config": config, "updated_at": tx.now})
    change_preferences(tx, sara, Preferences.model_validate({"theme": "dark"}))
    set_picture(tx, sara, sara.id, b"RIFF....WEBP")
    alpha = create_space(tx, owner, "Project Alpha", "first\nspace", "orchestrated", scout.id)["id"]
    beta = create_space(tx, owner, "Beta")["id"]
    add_member(tx, owner, alpha, sara.id)
    add_member(tx, owner, beta, scout.id, "viewer")
    for n, who in enumerate([owner, sara, scout, owner, sara]):
        draft = Draft(f"كلمة {n} 🙂 “x”", f"c{n}", mentions=[sara.id] if n == 2 else [])
        last = post_message(tx, who, alpha, draft)["id"]
        post_message(tx, owner, beta, Draft(f"beta {n}"))
    mark_read(tx, owner, alpha, last)
    change_phase(tx, owner, alpha, PhaseChange("design", "go", "we talked"))
    run, waiting = _work(tx, scout.id, alpha, last)
    return House(owner.id, sara.id, scout.id, alpha, beta, run, waiting)


def _work(tx: Tx, agent_id: str, space_id: str, message_id: str) -> tuple[str, str]:
    of_agent: Said = {"agent_id": agent_id, "created_at": tx.now}
    for status in ("running", "waiting_reply"):
        run_id = ids.new("run")
        values: Said = {
            **of_agent,
            "id": run_id,
            "status": status,
            "trigger": {"type": "space_message", "messageId": message_id, "n": [1, 2.5, None]},
            "trigger_space_id": space_id,
            "active_space_id": space_id,
            "chain_depth": 2,
            "model": "openai:gpt-5.2",
            "started_at": tx.now,
        }
        if status == "running":
            values |= {"lease_owner": "worker-1", "lease_until": tx.now + 30_000, "fence": 3, "attempts": 1}
            running = run_id
        else:
            wait = {"spaceId": space_id, "messageId": message_id, "startedAt": "now", "timeoutSeconds": 300}
            values |= {"wait": wait, "wait_space_id": space_id, "wait_message_id": message_id, "deadline": tx.now + 9}
        tx.execute(runs.insert(), values)
    step: Said = {"run_id": running, "n": 1, "kind": "tool", "state": "started", "started_at": tx.now}
    tx.execute(steps.insert(), {**step, "call_id": "call-1", "name": "deploy", "input": {"to": ["prod"]}})
    card: Said = {**of_agent, "id": ids.new("crd"), "run_id": running, "call_id": "call-1", "step": 1, "name": "deploy"}
    card |= {"space_id": space_id, "message_id": message_id, "ui": "approval", "purpose": "permission"}
    card |= {"result_schema": {}}
    card |= {"paused": True, "chain_depth": 2, "deadline": tx.now + 60_000, "answered_by": agent_id}
    tx.execute(cards.insert(), card)
    delivery: Said = {**of_agent, "type": "space_message", "space_id": space_id, "payload": {"text": "hi"}}
    for state, taken_by in (("taken", running), ("pending", None)):
        tx.execute(
            deliveries.insert(),
            {**delivery, "id": ids.new("dlv"), "event_id": f"{state}-1", "state": state, "run_id": taken_by},
        )
    turn: Said = {"id": ids.new("trn"), "space_id": space_id, "request_id": message_id, "message_id": message_id}
    tx.execute(turns.insert(), {**turn, "run_id": running, "phase": "design", "chain_depth": 1, "created_at": tx.now})
    tx.execute(memories.insert(), [_memory(agent_id, key, tx.now) for key in ("b", "A", "ä", "a")])
    goal: Said = {"agent_id": agent_id, "id": "g1", "description": "Ship", "priority": -1, "long_term": True}
    tx.execute(goals.insert(), {**goal, "updated_at": tx.now})
    plan: Said = {**of_agent, "id": ids.new("pln"), "name": "Daily", "instruction": "Look.", "cron": "0 9 * * *"}
    tx.execute(plans.insert(), {**plan, "next_at": tx.now + 60_000, "chain_depth": 1})
    answer: Said = {"run_id": run_id, "wait_n": 1, "entity_id": agent_id, "message_id": message_id}
    tx.execute(wait_answers.insert(), answer)
    budget: Said = {"scope": "space", "scope_id": space_id, "usd": 2.5, "updated_at": tx.now}
    tx.execute(budgets.insert(), budget)
    tx.execute(cycles.insert(), {**of_agent, "n": 1, "run_id": running, "messages": [{"role": "user"}], "tokens": 12})
    return running, run_id


def _memory(agent_id: str, key: str, at: int) -> Said:
    return {"agent_id": agent_id, "key": key, "value": f"about {key}", "updated_at": at}


NO_FILES = FileStore(Path("no-files"))


async def exported(db: Database, space: str | None = None, store: FileStore = NO_FILES) -> list[Said]:
    file = io.BytesIO()
    await db.snapshot(export, space, file.write, Progress("test"), store)
    return [orjson.loads(line) for line in file.getvalue().splitlines()]


async def imported(
    db: Database, lines: list[Said] | bytes, folder: Path, dry_run: bool = False, store: FileStore | None = None
) -> tuple[Summary, list[Said]]:
    """The summary, and the rejected lines."""
    content = lines if isinstance(lines, bytes) else written(lines)
    aside = folder / "rejected.jsonl"
    with Rejected(aside) as rejected:
        source = Source(io.BytesIO(content), "test.jsonl", Progress("test"))
        summary = await import_file(db, source, rejected, "Owner", store or FileStore(folder / "files"), dry_run)
    return summary, [orjson.loads(line) for line in aside.read_bytes().splitlines()] if aside.exists() else []


def written(lines: list[Said]) -> bytes:
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def of_type(lines: list[Said], type: str) -> list[Said]:
    return [line for line in lines if line["type"] == type]


def outcomes(summary: Summary) -> dict[str, int]:
    """Over all types."""
    total: dict[str, int] = {}
    for (_, outcome), count in summary.counts.items():
        total[outcome] = total.get(outcome, 0) + count
    return total


async def contents(db: Database) -> dict[str, list[Any]]:
    """Everything in the database, to see that nothing has changed."""

    def read(tx: Tx) -> dict[str, list[Any]]:
        return {
            table.name: sorted((tuple(row) for row in tx.all(sa.select(table))), key=repr)
            for table in metadata.sorted_tables
        }

    return await db.read(read)


async def head_seq(db: Database, space_id: str) -> int:
    row = await db.read(Tx.one, sa.select(spaces.c.head_seq).where(spaces.c.id == space_id))
    assert row is not None
    return int(row.head_seq)
