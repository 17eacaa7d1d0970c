"""A gateway moves to another database and is the same there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.entities.tokens import Hasher, find_caller, issue
from majlis.foundation import find_owner, owner_caller
from majlis.gateway import open_gateway
from majlis.settings import Settings
from majlis.spaces.queries import list_spaces
from majlis.store.migrations import REVISIONS
from majlis.store.open import open_database
from majlis.store.tables import deliveries, entities, runs
from majlis.store.transactions import Database, Tx
from tests.databases import SqliteDatabases
from tests.transfer.conftest import sweep
from tests.transfer.sample_gateway import House, Said, contents, exported, furnish, imported, of_type, outcomes


def as_it_arrives(lines: list[Said]) -> list[Said]:
    """Without the header. A run that was in progress is queued."""
    return [{**line, "status": "queued"} if line.get("status") == "running" else line for line in lines[1:]]


async def test_a_gateway_that_moved_exports_the_same_lines(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    before = lines
    summary, _ = await imported(target, before, tmp_path)
    assert outcomes(summary) == {"imported": len(before) - 2}
    assert as_it_arrives(await exported(target)) == as_it_arrives(before)
    assert [before[0][key] for key in ("type", "version", "schema", "scope")] == [
        "majlis-export",
        1,
        REVISIONS[-1],
        "gateway",
    ]
    assert set(before[-1]["counts"]) == {
        *("entity", "space", "agent", "member", "message", "phase", "turn", "memory"),
        *("goal", "plan", "run", "step", "card", "delivery", "cycle", "cause", "budget", "answer", "preferences"),
        "picture",
    }


@pytest.fixture
def way_back(sqlite_databases: SqliteDatabases, two_rooms: list[str]) -> Iterator[list[str]]:
    asyncio.run(sweep(two_rooms[0]))
    url = sqlite_databases.fresh()
    yield [two_rooms[0], url]
    sqlite_databases.drop(url)


async def test_sqlite_to_postgresql_and_back_is_the_same(
    lines: list[Said], way_back: list[str], tmp_path: Path
) -> None:
    seen = [lines]
    for url in way_back:
        gateway = await open_gateway(Settings(database_url=url, data_dir=tmp_path / str(len(seen)), port=0))
        try:
            assert (await imported(gateway.db, seen[-1], tmp_path))[0].clean
            seen.append(await exported(gateway.db))
        finally:
            await gateway.db.close()
    assert as_it_arrives(seen[1]) == as_it_arrives(seen[2]) == as_it_arrives(lines)


async def test_importing_twice_changes_nothing(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    await imported(target, lines, tmp_path)
    before = await contents(target)
    summary, _ = await imported(target, lines, tmp_path)
    assert outcomes(summary) == {"present": len(lines) - 2}
    assert await contents(target) == before


async def test_an_export_is_present_where_it_came_from(source: Database, furnished: House, tmp_path: Path) -> None:
    before = await contents(source)
    for space in (None, furnished.alpha, "Beta"):
        lines = await exported(source, space)
        summary, _ = await imported(source, lines, tmp_path)
        assert outcomes(summary) == {"present": len(lines) - 2}
    assert await contents(source) == before


async def test_a_rehearsal_reports_the_same_and_changes_nothing(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    lines[-3]["attempts"] = "many"
    before = await contents(target)
    rehearsed, asides = await imported(target, lines, tmp_path, dry_run=True)
    assert await contents(target) == before
    performed, same_asides = await imported(target, lines, tmp_path)
    assert rehearsed.json() == {**performed.json(), "dryRun": True}
    assert asides == same_asides
    assert "would be imported" in "\n".join(rehearsed.lines())


async def test_the_fresh_owner_makes_way_and_its_tokens_pass_to_the_one_that_moves_in(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    hasher = Hasher(b"key")
    fresh = await target.read(find_owner)
    assert fresh is not None
    _, token = await target.write(issue, hasher, fresh, "api")
    await imported(target, lines, tmp_path)
    caller = await target.read(find_caller, hasher.hash(token), "api")
    assert caller is not None
    assert (caller.id, caller.role) == (house.owner, "owner")
    assert await target.read(find_owner) == house.owner
    assert await target.read(Tx.one, sa.select(entities).where(entities.c.id == fresh)) is None
    # A server that knew the fresh owner continues with the imported one.
    assert (await target.read(owner_caller, fresh)).id == house.owner


async def test_the_owner_of_a_gateway_in_use_stays(lines: list[Said], target: Database, tmp_path: Path) -> None:
    theirs = await target.write(furnish)
    summary, asides = await imported(target, lines, tmp_path)
    assert await target.read(find_owner) == theirs.owner
    # The space without an orchestrator and the budget refer to no entity. Other lines are rejected with the reason.
    assert {key for key, count in summary.counts.items() if key[1] != "setAside"} == {
        ("space", "imported"),
        ("budget", "imported"),
    }
    assert "the name is taken by another entity" in asides[0]["reason"]
    message = next(aside for aside in asides if aside["type"] == "message")
    assert message["reason"].startswith("depends on spc_")
    assert "line 4: the name is taken" in message["reason"]
    # After the names are free, importing again imports everything.
    await target.write(rename_all)
    assert outcomes((await imported(target, lines, tmp_path))[0]) == {"imported": 52, "present": 2, "updated": 5}
    after = of_type(await exported(target), "message")
    assert all(message in after for message in of_type(lines, "message"))


def rename_all(tx: Tx) -> None:
    for row in tx.all(sa.select(entities)):
        new = {"name": f"Old {row.name}", "name_key": f"old {row.name_key}", "look_key": None, "external_id": None}
        tx.execute(entities.update().where(entities.c.id == row.id).values(new))


async def test_a_database_that_was_never_served_gets_the_owner_of_the_export(
    lines: list[Said], target_url: str, tmp_path: Path
) -> None:
    db = open_database(target_url)
    try:
        before = lines
        assert (await imported(db, before, tmp_path))[0].clean
        assert as_it_arrives(await exported(db)) == as_it_arrives(before)
    finally:
        await db.close()


async def test_work_under_way_can_be_taken_by_a_worker_of_the_new_gateway(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    assert "running" in {line["status"] for line in of_type(lines, "run")}
    await imported(target, lines, tmp_path)
    run = await target.read(Tx.one, sa.select(runs).where(runs.c.id == house.run))
    assert run is not None
    assert (run.status, run.lease_owner, run.lease_until, run.fence) == ("queued", None, None, 0)
    waiting = await target.read(Tx.one, sa.select(runs).where(runs.c.id == house.waiting))
    assert waiting is not None
    assert (waiting.status, waiting.wait_space_id) == ("waiting_reply", house.alpha)
    taken = await target.read(Tx.one, sa.select(deliveries).where(deliveries.c.state == "taken"))
    assert taken is not None
    assert taken.run_id == house.run


async def test_people_find_their_spaces_as_they_left_them(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    def seen(tx: Tx) -> Any:
        mine = sorted(list_spaces(tx, owner_caller(tx, furnished.owner)), key=lambda space: space["id"])
        # The event log is each gateway's own.
        return [{key: value for key, value in space.items() if key != "eventSeq"} for space in mine]

    await imported(target, await exported(source), tmp_path)
    assert await target.read(seen) == await source.read(seen)
