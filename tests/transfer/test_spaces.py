"""A single space moves with its members and its own work, and without the data of other spaces."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from majlis.entities.entities import add_entity
from majlis.errors import ConfigurationError
from majlis.foundation import owner_caller
from majlis.spaces.spaces import create_space, delete_space
from majlis.store import ids
from majlis.store.tables import agents, deliveries, entities, members, messages, runs, steps
from majlis.store.transactions import Database, Tx
from majlis.transfer.scope import HIDDEN
from tests.transfer.sample_gateway import House, exported, imported, of_type


async def test_a_space_travels_with_its_people_and_its_work_only(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    await source.write(add_entity, "human", "Stranger")
    await target.write(Tx.execute, entities.update().values(name="Other", name_key="other", look_key="other"))
    lines = await exported(source, "Project Alpha")
    assert lines[0]["scope"] == "space"
    assert {line["id"] for line in of_type(lines, "entity")} == {furnished.owner, furnished.sara, furnished.scout}
    assert {line["id"] for line in of_type(lines, "space")} == {furnished.alpha}
    assert set(lines[-1]["counts"]) == {
        *(
            "entity",
            "space",
            "agent",
            "member",
            "message",
            "phase",
            "turn",
            "run",
            "step",
            "card",
            "delivery",
            "answer",
        ),
        "picture",
    }
    assert (await imported(target, lines, tmp_path))[0].clean
    there = await exported(target, furnished.alpha)
    assert there[1:] == [{**line, "status": "queued"} if "running" in line.values() else line for line in lines[1:]]


async def test_the_export_of_a_space_grants_no_role_on_the_gateway(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    await target.write(Tx.execute, entities.update().values(name="Other", name_key="other", look_key="other"))
    lines = await exported(source, furnished.alpha)
    assert not any("role" in line for line in of_type(lines, "entity"))
    await imported(target, lines, tmp_path)
    row = await target.read(Tx.one, sa.select(entities.c.role).where(entities.c.id == furnished.owner))
    assert row is not None
    assert row.role == "member"
    forged = [{**line, "role": "owner"} if line["type"] == "entity" else line for line in lines]
    _, asides = await imported(target, forged, tmp_path)
    assert {aside["type"] for aside in asides} == {"entity"}
    assert "role is not allowed" in asides[0]["reason"]


async def test_references_to_another_space_are_left_out(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    """A run may enter another space and take events of several; the export of one space does not show this."""

    def reach_out(tx: Tx) -> None:
        tx.execute(agents.update().values(active_space_id=furnished.beta))
        tx.execute(runs.update().where(runs.c.id == furnished.run).values(active_space_id=furnished.beta))
        other = {"id": ids.new("run"), "agent_id": furnished.scout, "status": "running", "trigger": {}}
        tx.execute(runs.insert(), {**other, "trigger_space_id": furnished.beta, "created_at": tx.now})
        tx.execute(deliveries.update().where(deliveries.c.state == "taken").values(run_id=other["id"]))

    await source.write(reach_out)
    lines = await exported(source, furnished.alpha)
    assert furnished.beta not in str(lines)
    await target.write(Tx.execute, entities.update().values(name="Other", name_key="other", look_key="other"))
    assert (await imported(target, lines, tmp_path))[0].clean
    states = await target.read(Tx.all, sa.select(deliveries.c.state))
    # No run here has taken it, so it is pending again.
    assert [row.state for row in states] == ["pending"] * 6
    assert (await imported(source, lines, tmp_path))[0].counts.keys() == {
        (name, "present") for name in lines[-1]["counts"]
    }


async def test_the_export_of_a_space_has_no_text_of_other_spaces_in_its_runs(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    """A cycle with events of two spaces, in which the agent looks into the other one, remembers what it read, comes
    back and says so. "Beta" is said wherever that space's words are kept."""
    here = {"type": "space_message", "chainDepth": 2, "spaceId": furnished.alpha, "text": "alpha asks"}
    there = {"type": "space_message", "chainDepth": 2, "spaceId": furnished.beta, "text": "Beta asks"}
    trigger = {**here, "events": [here, there, {"type": "plan", "chainDepth": 0, "instruction": "Beta plan"}]}
    run = {"trigger": trigger, "cycle": True, "reason": "Beta is dull", "notes": ["Skipped: Beta is dull"]}
    entered = {"spaceId": furnished.beta, "history": ["Beta answer"]}
    back = {"spaceId": furnished.alpha, "history": ["alpha answer"]}
    unfinished: dict[str, object] = {"state": "started", "input": {"about": "Beta"}, "output": None}
    journal: list[dict[str, object]] = [
        {"kind": "model", "name": None, "output": {"text": "Beta thought", "calls": []}},
        {"name": "enter_space", "input": {"spaceId": furnished.beta}, "output": entered},
        {"name": "set_memories", "input": {"memories": [{"key": "b", "value": "Beta fact"}]}, "output": {}},
        {"name": "deploy", **unfinished},
        {"name": "enter_space", "input": {"spaceId": furnished.alpha}, "output": back},
        {"name": "deploy", "input": {"about": "alpha"}, "output": {"done": True}},
    ]
    common = {"run_id": furnished.run, "kind": "tool", "state": "done", "started_at": 5}
    origin = {"sourceSpace": furnished.beta, "sourceEvent": "msg_0123456789abcdef", "sourceText": "Beta question"}

    def work(tx: Tx) -> None:
        tx.execute(runs.update().where(runs.c.id == furnished.run).values(run))
        tx.execute(messages.update().where(messages.c.space_id == furnished.alpha).values(origin=origin))
        for n, step in enumerate(journal, 2):
            tx.execute(steps.insert(), {"input": None, "output": None, **common, **step, "n": n})

    await source.write(work)
    lines = await exported(source, furnished.alpha)
    assert [line for line in lines if "Beta" in str(line)] == []
    [moved] = [line for line in of_type(lines, "run") if line["id"] == furnished.run]
    assert moved["trigger"] == {**here, "events": [here]}
    told = [(line["state"], line["output"]) for line in of_type(lines, "step")][1:]
    stayed = [("done", HIDDEN)] * 3 + [("error", HIDDEN)]
    assert told == [*stayed, ("done", back), ("done", {"done": True})]
    assert (await imported(source, lines, tmp_path))[0].counts.keys() == {
        (name, "present") for name in lines[-1]["counts"]
    }
    await target.write(Tx.execute, entities.update().values(name="Other", name_key="other", look_key="other"))
    assert (await imported(target, lines, tmp_path))[0].clean
    # The export of the whole gateway has everything.
    assert "Beta thought" in str(await exported(source))


async def test_a_deleted_space_leaves_its_tombstone_only(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    def delete(tx: Tx) -> None:
        delete_space(tx, owner_caller(tx, furnished.owner), furnished.beta)

    await source.write(delete)
    lines = await exported(source)
    assert {line["spaceId"] for line in of_type(lines, "message")} == {furnished.alpha}
    assert {line["id"] for line in of_type(lines, "space")} == {furnished.alpha, furnished.beta}
    summary, _ = await imported(target, lines, tmp_path)
    assert (summary.clean, summary.placeholders) == (True, 0)


async def test_rows_of_a_space_that_is_deleted_here_are_rejected(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    lines = await exported(source)
    await imported(target, lines, tmp_path)

    def delete(tx: Tx) -> None:
        delete_space(tx, owner_caller(tx, furnished.owner), furnished.beta)

    await target.write(delete)
    _, asides = await imported(target, lines, tmp_path)
    assert {aside["type"]: aside["reason"] for aside in asides} == {
        "space": "differs from the existing row (deletedAt)",
        "member": f"its space {furnished.beta} is deleted",
    }
    row = await target.read(Tx.one, sa.select(sa.func.count()).where(members.c.space_id == furnished.beta))
    assert row == (0,)


async def test_a_space_is_found_by_id_or_by_a_name_that_is_its_own(source: Database, furnished: House) -> None:
    assert (await exported(source, "Beta"))[1:] == (await exported(source, furnished.beta))[1:]
    with pytest.raises(ConfigurationError, match='There is no space "Gamma"'):
        await exported(source, "Gamma")

    def second(tx: Tx) -> str:
        return create_space(tx, owner_caller(tx, furnished.owner), "Beta")["id"]

    other = await source.write(second)
    with pytest.raises(ConfigurationError, match=f"{furnished.beta}, {other}|{other}, {furnished.beta}"):
        await exported(source, "Beta")
