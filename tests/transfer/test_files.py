"""Export and import carry files (L4)."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from majlis.files.store import FileStore
from majlis.janitor import collect_files
from majlis.store import ids
from majlis.store.tables import blobs, files, messages
from majlis.store.transactions import Database, Tx
from tests.spaces.pictures import png
from tests.transfer.sample_gateway import Said, exported, imported, of_type, outcomes
from tests.world import Person, World

LARGE = bytes(range(256)) * 6000


async def sent(world: World) -> tuple[Person, str, list[Any]]:
    """A space of Sara's with a message that carries a large file, an empty one and a picture."""
    sara = await world.person("Sara")
    space = await sara.create_space("Files")
    uploads = [(LARGE, "large.bin"), (b"", "empty.txt"), (png(), "shot.png")]
    carried = [await sara.upload(space, content, name) for content, name in uploads]
    await sara.upload(space, b"unused")
    await sara.say(space, "", files=[file["id"] for file in carried])
    return sara, space, carried


def stored(tx: Tx) -> list[Any]:
    """The files of messages, and the bytes' names with their hashes."""
    shown = [row.files for row in tx.all(sa.select(messages.c.files).where(messages.c.files.is_not(None)))]
    return [shown, {row.sha256: row.name for row in tx.all(sa.select(blobs).where(blobs.c.stored))}]


async def test_l4_an_export_carries_files_and_a_repeated_import_changes_nothing(
    world: World, target: Database, tmp_path: Path
) -> None:
    _, _, carried = await sent(world)
    lines = await exported(world.gateway.db, store=world.gateway.uploads.store)
    assert [line["name"] for line in of_type(lines, "file")] == ["large.bin", "empty.txt", "shot.png"]
    assert len(of_type(lines, "content")) == 4
    store = FileStore(tmp_path / "target")
    rehearsed, _ = await imported(target, lines, tmp_path, dry_run=True, store=store)
    assert rehearsed.clean
    assert rehearsed.counts["file", "imported"] == 3
    assert not [path for path in store.root.rglob("*") if path.is_file()]
    summary, rejected = await imported(target, lines, tmp_path, store=store)
    assert rejected == []
    assert summary.counts["attachment", "imported"] == 3
    for _ in range(2):
        shown, names = await target.read(stored)
        assert shown == [carried]
        for file, content in zip(carried, (LARGE, b"", png()), strict=True):
            assert (store.root / names[file["sha256"]]).read_bytes() == content
        await collect_files(target, store)
        again, _ = await imported(target, lines, tmp_path, store=store)
        assert set(outcomes(again)) == {"present"}
    first = of_type(lines, "file") + of_type(lines, "attachment")
    moved = await exported(target, store=store)
    assert of_type(moved, "file") + of_type(moved, "attachment") == first


async def test_l4_a_space_takes_its_files_along_even_those_forwarded_to_it(
    world: World, target: Database, tmp_path: Path
) -> None:
    sara, source, carried = await sent(world)
    space = await sara.create_space("Forwarded")
    await sara.say(space, "See", files=[carried[0]["id"]])
    store = world.gateway.uploads.store
    lines = await exported(world.gateway.db, space, store)
    (file,) = of_type(lines, "file")
    assert (file["id"], file["spaceId"]) == (carried[0]["id"], space)
    assert source not in str(lines)
    summary, rejected = await imported(target, lines, tmp_path)
    assert (rejected, summary.counts["file", "imported"]) == ([], 1)
    assert (await target.read(stored))[0] == [[carried[0]]]
    here, rejected = await imported(world.gateway.db, lines, tmp_path, store=store)
    assert rejected == []
    assert set(outcomes(here)) == {"present"}


async def test_l4_a_file_without_its_whole_content_is_rejected(world: World, target: Database, tmp_path: Path) -> None:
    await sent(world)
    lines = await exported(world.gateway.db, store=world.gateway.uploads.store)
    first, second = [line for line in of_type(lines, "content") if line["bytes"] == len(LARGE)]
    forged = {**second, "data": base64.b64encode(b"x" * 487_424).decode()}
    store = FileStore(tmp_path / "target")
    damages: list[tuple[Said, list[Said], str]] = [
        (second, [], "its content is missing"),
        (first, [], "not continued"),
        (second, [forged], "does not have this size and sha256"),
        (second, [{**second, "data": "!"}], "should be base64"),
        (second, [{**second, "offset": -1}], "should be numbers"),
        (second, [{**second, "sha256": "../../x"}], "64 digits"),
    ]
    for damaged, instead, reason in damages:
        changed = [each for line in lines for each in (instead if line is damaged else [line])]
        _, rejected = await imported(target, changed, tmp_path, store=store)
        assert any(reason in line["reason"] for line in rejected), reason
        assert "its content is missing" in next(line["reason"] for line in rejected if line["type"] == "file")
        assert any(line["type"] == "attachment" for line in rejected)
        assert not any(store.spool.iterdir())
    lie = {**of_type(lines, "file")[-1], "id": ids.new("fil"), "bytes": 9}
    _, rejected = await imported(target, [lines[0], lie], tmp_path, store=store)
    assert [line["reason"] for line in rejected] == [f"bytes should be {len(png())}, the size of its content"]
    whole, rejected = await imported(target, lines, tmp_path, store=store)
    assert rejected == []
    assert whole.counts["file", "imported"] == 1
    found = await target.read(Tx.all, sa.select(files.c.collect_at))
    assert [row.collect_at for row in found] == [None, None, None]


async def test_an_export_names_the_content_that_the_store_has_lost(world: World) -> None:
    await sent(world)
    lines = await exported(world.gateway.db, store=FileStore(Path("nowhere")))
    assert of_type(lines, "content") == []
    assert len(of_type(lines, "file")) == 3
