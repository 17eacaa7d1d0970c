"""The file of `majlis prove` outlives a schedule, and each schedule finds it as its world left it."""

from __future__ import annotations

from pathlib import Path

from majlis.prove.disk import gateway_disk
from majlis.prove.schedule import run_schedule
from majlis.prove.world import SHAPES, world_of


def test_the_file_has_the_rows_of_the_world_whatever_happened_before(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        run_schedule(seed, tmp_path)
    for shape in (SHAPES[-1], SHAPES[0]):
        content = world_of(shape, tmp_path).content
        disk = gateway_disk(tmp_path, content)
        assert {table: disk.rows(table) for table in content.rows} == content.rows
        disk.observer.execute("INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)")
        assert disk.observer.execute("PRAGMA foreign_key_check").fetchall() == []


def test_connections_are_used_again_and_have_no_open_transaction(tmp_path: Path) -> None:
    run_schedule(1, tmp_path)
    disk = gateway_disk(tmp_path, world_of(SHAPES[0], tmp_path).content)
    given_back = {id(each) for each in disk._idle}
    run_schedule(2, tmp_path)
    assert given_back & {id(each) for each in disk._idle}
    for each in disk._idle:
        each.exec_driver_sql("BEGIN IMMEDIATE")
        each.exec_driver_sql("ROLLBACK")
