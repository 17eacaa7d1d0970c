"""Connected clients are notified of an import."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from majlis.store import ids
from majlis.store.tables import events
from majlis.store.transactions import Tx
from tests.transfer.sample_gateway import Said, exported, imported, of_type
from tests.world import World


async def test_a_connected_client_loads_the_space_again_after_an_import(world: World, tmp_path: Path) -> None:
    db = world.gateway.db
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    for text in ("one", "two", "three"):
        await world.owner.say(space, text)
    whole = await exported(db)
    async with sara.follow(space) as one_space, sara.follow() as all_spaces:
        assert (await one_space.next()).type == "connected"
        assert (await all_spaces.next()).type == "connected"
        (old,) = of_type(whole, "space")
        newer: list[Said] = [{**line, "headSeq": 4} if line is old else line for line in whole]
        last = of_type(whole, "message")[-1]
        fourth = {**last, "id": ids.new("msg"), "seq": 4, "text": "four"}
        newer.insert(newer.index(last) + 1, fourth)
        summary, _ = await imported(db, newer, tmp_path)
        assert summary.counts["message", "imported"] == 1
        for events_of in (one_space, all_spaces):
            event = await events_of.next()
            assert (event.type, event.data["type"], event.data["spaceId"]) == ("resync", "resync", space)
    assert [m["text"] for m in (await sara.history(space))["messages"]] == ["one", "two", "three", "four"]


async def test_a_space_is_notified_once_and_only_when_something_was_imported(world: World, tmp_path: Path) -> None:
    db = world.gateway.db
    space = await world.owner.create_space("Lobby")
    await world.owner.say(space, "one")
    lines = await exported(db)

    async def told() -> int:
        row = await db.read(Tx.one, sa.select(sa.func.count()).where(events.c.type == "resync"))
        assert row is not None
        return int(row[0])

    await imported(db, lines, tmp_path)
    assert await told() == 0
    await imported(db, [{**line, "headSeq": 9} if line["type"] == "space" else line for line in lines], tmp_path)
    # With the first change, and again with the placeholders at the end.
    assert await told() == 2


async def test_a_connected_client_finds_an_imported_space(world: World, tmp_path: Path) -> None:
    db = world.gateway.db
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    await world.owner.say(space, "one")
    lines = await exported(db, space)
    moved = "spc_0123456789abcdef"
    copy = [{**line, **{key: moved for key, value in line.items() if value == space}} for line in lines]
    for message in of_type(copy, "message"):
        message["id"] = f"msg_{moved[4:]}"
    async with sara.follow() as stream:
        assert (await stream.next()).type == "connected"
        assert (await imported(db, copy, tmp_path))[0].clean
        joined = await stream.until("space.member.joined")
        assert (joined.data["spaceId"], joined.data["entityId"]) == (moved, sara.id)
        await world.owner.say(moved, "two")
        assert (await stream.until("space.message")).data["message"]["seq"] == 2
