"""Memory does not grow with the number of messages."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from majlis.foundation import find_owner
from majlis.store import ids
from majlis.store.tables import messages, spaces
from majlis.store.transactions import Database, Tx
from majlis.transfer import file, tables
from majlis.transfer.export import export
from majlis.transfer.import_ import import_file
from majlis.transfer.report import Progress
from tests.transfer.sample_gateway import NO_FILES

PAGE = 10
TEXT = "x" * 10_000


def add_space(tx: Tx, size: int) -> None:
    space = {"id": ids.new("spc"), "name": "Big", "head_seq": size, "event_at": 0, "created_at": 0}
    tx.execute(spaces.insert(), space)
    said = {"space_id": space["id"], "sender_id": find_owner(tx), "text": TEXT, "created_at": tx.now}
    tx.execute(messages.insert(), [{**said, "id": ids.new("msg"), "seq": seq} for seq in range(1, size + 1)])


async def peaks(source: Database, target: Database, folder: Path) -> list[int]:
    """The peak memory of the export and of the import."""
    found = []
    with (folder / "big.jsonl").open("wb") as opened:
        tracemalloc.start()
        await source.snapshot(export, None, opened.write, Progress("test"), NO_FILES)
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    with (folder / "big.jsonl").open("rb") as opened, file.Rejected(folder / "rejected") as rejected:
        tracemalloc.start()
        source_file = file.Source(opened, "big", Progress("test"))
        assert (await import_file(target, source_file, rejected, "Owner", NO_FILES)).clean
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return found


async def test_an_export_and_its_import_hold_a_page_in_memory_not_the_gateway(
    source: Database, target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "KINDS", tuple(replace(kind, page=PAGE) for kind in tables.KINDS))
    monkeypatch.setattr(file, "BATCH_LINES", PAGE)
    await source.write(add_space, 2 * PAGE)
    of_few = await peaks(source, target, tmp_path)
    await source.write(add_space, 60 * PAGE)
    of_many = await peaks(source, target, tmp_path)
    grown = [many - few for many, few in zip(of_many, of_few, strict=True)]
    # If all messages were held in memory, the growth would be ten times larger.
    assert all(more < 6 * PAGE * len(TEXT) for more in grown), (of_few, of_many)
