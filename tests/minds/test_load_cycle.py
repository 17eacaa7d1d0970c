"""Loading the start of a cycle: the right rows, and no more after ten thousand cycles than after ten."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa
import structlog

from majlis.minds.consciousness.load import load_waking
from majlis.minds.consciousness.perceive import perceive
from majlis.minds.consciousness.remember import lived
from majlis.minds.consciousness.scene import Past, Waking
from majlis.minds.consciousness.token_budget import count_turns
from majlis.minds.timeline.scene import Look, Who
from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Prompt
from majlis.runs.end.cycle_end import append_cycle
from majlis.spaces.members import leave
from majlis.store.tables import cycles
from majlis.store.transactions import Database, Tx
from tests.minds.places import Place, add_run, make_place
from tests.minds.scenes import config
from tests.minds.test_load import counted
from tests.minds.wakings import said, turns_of

SMALL = {"maxTokens": 8_000, "minRecentCycles": 3}


@pytest.fixture
async def place(db: Database) -> Place:
    return await make_place(db)


def wake(tx: Tx, /, place: Place, active: str | None = None, **settings: Any) -> Waking:
    agent = Who(place.agent.id, place.agent.name, "agent")
    made = config(mind="consciousness", **{"consciousness": SMALL, **settings})
    return load_waking(tx, Look(agent, made, "run_this", {"events": [said("Hi")]}, active))


def live(tx: Tx, place: Place, run_id: str, past: Past | None, n: int, output: str = '"ok"') -> int:
    return append_cycle(tx, place.agent.id, run_id, place.space, lived(turns_of(n, output), past))


async def new_run(place: Place) -> str:
    return await place.db.write(add_run, place.agent, await place.say("hello"), "completed")


async def test_k3_cycles_are_numbered_and_come_back_in_their_order(place: Place) -> None:
    run = await new_run(place)
    assert [await place.db.write(live, place, run, None, n) for n in (1, 2, 3)] == [1, 2, 3]
    found = await place.db.snapshot(wake, place)
    assert [each.n for each in found.recent] == [1, 2, 3]
    sent = chat_messages(Prompt(perceive(found).turns))
    assert [message["role"] for message in sent] == ["system", *["user", "assistant", "tool", "assistant"] * 3, "user"]
    assert sent[-1]["content"].startswith("INBOX (1 event, ")


async def test_k7_a_compaction_is_stored_with_its_cycle_and_read_back(place: Place) -> None:
    run = await new_run(place)
    throughs = []
    for n in range(1, 30):
        found = await place.db.snapshot(wake, place)
        assert count_turns(perceive(found).turns) <= 6_000
        throughs.append(found.past.through)
        past = found.past if found.compacted else None
        await place.db.write(live, place, run, past, n, json.dumps("x" * 3_000))
    assert throughs == sorted(throughs)
    assert 3 <= len(set(throughs)) <= 12, "the border moves, and not every time"
    text = str(perceive(await place.db.snapshot(wake, place)).turns)
    assert all(f"Request {n} is done." in text for n in range(1, 30))


async def test_k7_300_cycles_with_large_outputs_stay_under_a_small_budget_and_no_summary_is_lost(place: Place) -> None:
    """Like `test_compaction.py`, through the database."""
    run, budget = await new_run(place), {"maxTokens": 20_000, "minRecentCycles": 3}
    for n in range(1, 301):
        found = await place.db.snapshot(wake, place, consciousness=budget)
        assert count_turns(perceive(found).turns) <= 15_000
        past = found.past if found.compacted else None
        assert await place.db.write(live, place, run, past, n, json.dumps("x" * 12_000)) == n
    text = str(perceive(await place.db.snapshot(wake, place, consciousness=budget)).turns)
    assert [n for n in range(1, 301) if f"Request {n} is" not in text] == []
    rows = await place.db.read(lambda tx: tx.all(sa.select(cycles.c.summary, cycles.c.tokens).order_by(cycles.c.n)))
    assert [row.summary for row in rows] == [f"Request {n} is done." for n in range(1, 301)], "rows stay as they were"
    assert all(row.tokens > 3_000 for row in rows), "with what the tool answered"


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_r9_a_cycle_that_cannot_be_read_is_shown_by_its_summary(place: Place) -> None:
    """Such a row used to fail every later run of the agent. PostgreSQL refuses to store it."""
    run = await new_run(place)
    for n in (1, 2, 3):
        await place.db.write(live, place, run, None, n)
    broken = sa.text("UPDATE cycles SET messages = '{broken' WHERE n = 2")
    await place.db.write(lambda tx: tx.execute(broken).rowcount)
    with structlog.testing.capture_logs() as logs:
        sent = chat_messages(Prompt(perceive(await place.db.snapshot(wake, place)).turns))
    assert [message["role"] for message in sent][5:8] == ["user", "assistant", "user"]
    assert [message["content"] for message in sent][5:7] == ["(Cycle 2 cannot be read.)", "Request 2 is done."]
    [line] = logs
    assert (line["agent"], line["cycle"]) == (place.agent.id, 2)


@pytest.mark.parametrize("kept", ["null", "7", '{"role": "user"}'])
async def test_r9_a_cycle_whose_messages_are_not_a_list_is_named_as_unreadable(place: Place, kept: str) -> None:
    run = await new_run(place)
    for n in (1, 2, 3):
        await place.db.write(live, place, run, None, n)
    broken = sa.text(f"UPDATE cycles SET messages = '{kept}' WHERE n = 2".replace(":", "\\:"))
    await place.db.write(lambda tx: tx.execute(broken).rowcount)
    sent = chat_messages(Prompt(perceive(await place.db.snapshot(wake, place)).turns))
    assert [message["content"] for message in sent][5:7] == ["(Cycle 2 cannot be read.)", "Request 2 is done."]


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_r9_a_summary_that_cannot_be_read_is_only_named(place: Place) -> None:
    run = await new_run(place)
    for n in (1, 2, 3):
        await place.db.write(live, place, run, None, n)
    broken = sa.text("UPDATE cycles SET summary = CAST(x'ff00fe' AS TEXT) WHERE n = 2")
    await place.db.write(lambda tx: tx.execute(broken).rowcount)
    found = await place.db.snapshot(wake, place)
    assert [(each.n, each.summary) for each in found.recent] == [
        (1, "Request 1 is done."),
        (2, "(cannot be read)"),
        (3, "Request 3 is done."),
    ]
    assert "request 2" in str(perceive(found).turns), "what was said in it is whole"


@pytest.mark.parametrize("kept", ["null", '[{"first": 1}]'])
async def test_r9_k7_a_compaction_depends_only_on_the_cycles(place: Place, kept: str) -> None:
    run = await new_run(place)
    large = json.dumps("x" * 12_000)
    for n in range(1, 11):
        found = await place.db.snapshot(wake, place)
        await place.db.write(live, place, run, found.past, n, large)
    assert found.past.groups
    broken = sa.text(f"UPDATE pasts SET groups = '{kept}'".replace(":", "\\:"))
    await place.db.write(lambda tx: tx.execute(broken).rowcount)
    found = await place.db.snapshot(wake, place)
    assert found.compacted
    text = str(perceive(found).turns)
    assert [n for n in range(1, 11) if f"Request {n} is" not in text] == []


async def test_k7_waking_costs_the_same_after_ten_thousand_cycles(place: Place) -> None:
    run = await new_run(place)
    counts, rows = [], []
    for more in (10, 10_000):
        await place.db.write(add_many, place, run, more)
        # The first cycle reads them once and stores the result.
        found = await place.db.snapshot(wake, place, active=place.space)
        n = await place.db.write(live, place, run, found.past, 1)
        with counted(place.db) as statements:
            found = await place.db.snapshot(wake, place, active=place.space)
        counts.append([each for each in statements if each.startswith(("SELECT", "WITH"))])
        rows.append(len(found.recent))
        assert found.past.through + len(found.recent) == n
    assert counts[0] == counts[1]
    assert len(counts[0]) == 6
    assert max(rows) <= 60
    assert sum(group.last - group.first + 1 for group in found.past.groups) == found.past.through


def add_many(tx: Tx, place: Place, run_id: str, count: int) -> None:
    kept = lived(turns_of(1))
    row: dict[str, Any] = {
        "agent_id": place.agent.id,
        "run_id": run_id,
        "messages": kept.messages,
        "summary": kept.summary,
    }
    row |= {"tokens": kept.tokens, "created_at": tx.now}
    first = 1 if count < 100 else 12
    tx.execute(cycles.insert(), [{**row, "n": first + n} for n in range(count)])


async def test_a5_a7_the_active_space_is_shown_while_the_agent_is_a_member(place: Place) -> None:
    found = await place.db.snapshot(wake, place, active=place.space)
    shown = f'ACTIVE SPACE: "Project Alpha" (id: {place.space})\n  Your messages here wake every other agent.'
    assert str(perceive(found).turns[-1].text).endswith(shown)  # type: ignore[union-attr]
    assert perceive(found).active_space_id == place.space
    await place.db.write(leave, place.space, place.agent.id)
    assert perceive(await place.db.snapshot(wake, place, active=place.space)).active_space_id is None
