"""Imported work continues: an agent with a short config, and a run whose card was not exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import dump_config, parse_config
from majlis.runs.claim.claim import claim
from majlis.store import ids
from majlis.store.tables import agents, cards, deliveries, entities, runs, steps
from majlis.store.transactions import Database, Tx
from tests.transfer.sample_gateway import House, Said, contents, exported, imported, of_type


async def test_a_config_that_says_little_arrives_with_its_defaults(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    """Claims read limits from the stored config; one agent without them used to stop all work."""
    short = [{**line, "config": {"instructions": "Help."}} if line["type"] == "agent" else line for line in lines]
    assert (await imported(target, short, tmp_path))[0].clean
    row = await target.read(Tx.one, sa.select(agents.c.config).where(agents.c.id == house.scout))
    assert row is not None
    assert row.config == dump_config(parse_config({"instructions": "Help."}))
    claimed = await target.write(claim, "worker", 5, (), ())
    assert house.run in {run.id for run in claimed.runs}
    before = await contents(target)
    again, _ = await imported(target, [line for line in short if line["type"] not in ("run", "delivery")], tmp_path)
    assert {outcome for _, outcome in again.counts} == {"present"}
    assert await contents(target) == before


def ask_elsewhere(tx: Tx, house: House) -> str:
    """A run of Alpha that waits for an answer to a card in Beta."""
    run, call = ids.new("run"), "call-9"
    of_agent: Said = {"agent_id": house.scout, "created_at": tx.now}
    wait = {"spaceId": house.beta, "messageId": ids.new("msg"), "startedAt": "now", "timeoutSeconds": 600}
    values: Said = {**of_agent, "id": run, "status": "waiting_tool", "trigger": {"type": "space_message"}}
    values |= {"trigger_space_id": house.alpha, "active_space_id": house.beta, "wait_space_id": house.beta}
    tx.execute(runs.insert(), {**values, "wait": {**wait, "toolCallId": call, "toolName": "confirm"}})
    step: Said = {"run_id": run, "n": 1, "kind": "tool", "state": "done", "started_at": tx.now, "call_id": call}
    tx.execute(steps.insert(), {**step, "name": "confirm", "input": {}, "output": {"status": "waiting"}})
    card: Said = {**of_agent, "id": ids.new("crd"), "run_id": run, "call_id": call, "step": 1, "name": "confirm"}
    card |= {"space_id": house.beta, "message_id": wait["messageId"], "ui": "approval", "purpose": "answer"}
    tx.execute(cards.insert(), {**card, "result_schema": {}, "paused": True, "chain_depth": 0, "deadline": tx.now + 9})
    delivery: Said = {**of_agent, "id": ids.new("dlv"), "event_id": "e9", "type": "space_message", "payload": {}}
    tx.execute(deliveries.insert(), {**delivery, "space_id": house.alpha, "state": "taken", "run_id": run})
    return run


async def test_j5_a_run_whose_question_did_not_come_along_goes_on_without_an_answer(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    """The card cannot be answered here and the wait has no deadline: the run used to wait forever."""
    run = await source.write(ask_elsewhere, furnished)
    lines = await exported(source, furnished.alpha)
    assert run in {line["id"] for line in of_type(lines, "run")}
    assert run not in {line["runId"] for line in of_type(lines, "card")}
    await target.write(Tx.execute, entities.update().values(name="Other", name_key="other", look_key="other"))
    assert (await imported(target, lines, tmp_path))[0].clean
    found: Any = await target.read(Tx.one, sa.select(runs).where(runs.c.id == run))
    assert (found.status, found.wait["outcome"]["status"]) == ("queued", "withdrawn")
    made: Any = await target.read(Tx.one, sa.select(steps).where(steps.c.run_id == run))
    assert (made.state, made.output["status"]) == ("error", "withdrawn")


async def test_j5_a_run_whose_question_came_along_waits_on(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    run = await source.write(ask_elsewhere, furnished)
    assert (await imported(target, await exported(source), tmp_path))[0].clean
    found: Any = await target.read(Tx.one, sa.select(runs.c.status).where(runs.c.id == run))
    assert found.status == "waiting_tool"
