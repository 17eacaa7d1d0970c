"""A full disk: SQLite refuses to grow, as it does on a disk without room."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from majlis.store.sqlite import SqliteDatabase
from tests.world import World

_MOST_PAGES = 1_073_741_823


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
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


async def _limit(world: World, pages: int) -> None:
    """SQLite takes the size that it has if that is more. The limit belongs to a connection."""
    db, pragma = world.gateway.db, f"PRAGMA max_page_count = {pages}"
    assert isinstance(db, SqliteDatabase)
    await db.write(lambda tx: tx.execute(sa.text(pragma)))
    db._open_loop_connection().raw.execute(pragma)
