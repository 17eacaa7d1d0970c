"""A full disk: SQLite refuses to grow, as it does on a disk without room."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
import structlog

from majlis.api.error_responses import DATABASE
from majlis.store.sqlite import SqliteDatabase
from tests.world import World

_MOST_PAGES = 1_073_741_823


pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_a_full_disk_is_a_503_until_there_is_room_again(world: World) -> None:
    space = await world.owner.create_space()
    path, body = f"/api/spaces/{space}/messages", {"text": "word " * 1000}
    await _limit(world, 1)
    # Pages that are half empty take some.
    stored = 0
    while (refused := await world.owner.post(path, body)).is_success:
        stored += 1
        assert stored < 50
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    assert int(refused.headers["retry-after"]) > 0
    assert (await world.owner.get(path)).status_code == 200
    await _limit(world, _MOST_PAGES)
    assert (await world.owner.say(space, "There is room."))["seq"] == stored + 1


async def test_reads_that_work_beside_writes_that_fail_add_no_lines_to_the_log(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await world.owner.create_space()
    path, body = f"/api/spaces/{space}/messages", {"text": "word " * 1000}
    monkeypatch.setattr(DATABASE, "quiet_seconds", 600.0)
    monkeypatch.setattr(DATABASE, "failures", 0)
    await _limit(world, 1)
    with structlog.testing.capture_logs() as logs:
        statuses: list[int] = []
        while statuses.count(503) < 5:
            statuses.append((await world.owner.post(path, body)).status_code)
            assert (await world.owner.get(path)).status_code == 200
        assert [each["event"] for each in logs] == ["the database failed; trying again"]
        await _limit(world, _MOST_PAGES)
        monkeypatch.setattr(DATABASE, "quiet_seconds", 0.0)
        await world.owner.say(space, "There is room.")
    assert [(each["event"], each.get("failures")) for each in logs][1:] == [("the database works again", 5)]


async def _limit(world: World, pages: int) -> None:
    """SQLite takes the size that it has if that is more. The limit belongs to a connection."""
    db, pragma = world.gateway.db, f"PRAGMA max_page_count = {pages}"
    assert isinstance(db, SqliteDatabase)
    await db.write(lambda tx: tx.execute(sa.text(pragma)))
    db._open_loop_connection().raw.execute(pragma)
