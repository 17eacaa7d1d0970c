"""Every table and every column is exported, or has a reason why not."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from majlis.store.tables import metadata
from majlis.store.tables.columns import moment
from majlis.store.transactions import Database, Tx
from majlis.transfer import tables
from majlis.transfer.file import Raw
from majlis.transfer.parse import Line, Refused, parse
from majlis.transfer.tables import KINDS, NOT_EXPORTED, describe
from tests.transfer.sample_gateway import House, Said, exported, imported, of_type


def test_every_table_travels_or_says_why_not() -> None:
    travelling = {kind.table.name for kind in KINDS}
    assert travelling | NOT_EXPORTED.keys() == metadata.tables.keys()
    assert not travelling & NOT_EXPORTED.keys()
    assert all(NOT_EXPORTED.values())


def test_every_column_travels_or_says_why_not() -> None:
    for kind in KINDS:
        assert {field.name for field in kind.fields} | kind.stays.keys() == set(kind.table.c.keys()), kind.name
        assert all(kind.stays.values())


def test_no_line_refers_to_a_later_one() -> None:
    names = [kind.table.name for kind in KINDS]
    for kind in KINDS:
        for _, table in kind.references:
            assert names.index(table.name) < names.index(kind.table.name)


def test_every_key_is_unique_in_the_database() -> None:
    for kind in KINDS:
        unique = {tuple(kind.table.primary_key.columns.keys())}
        unique |= {tuple(c.columns.keys()) for c in kind.table.constraints if isinstance(c, sa.UniqueConstraint)}
        assert kind.key in unique


def test_exported_values_are_read_back_with_the_limits_of_their_columns() -> None:
    goal: Said = {"type": "goal", "agentId": "ent_0123456789abcdef", "id": "g", "description": "d", "status": "active"}
    goal |= {"priority": 2**31, "longTerm": 1, "updatedAt": "yesterday", "more": 0}
    with pytest.raises(Refused) as refused:
        parse(Raw(1, orjson.dumps(goal)), "gateway")
    assert refused.value.reason == "priority: input should be less than or equal to 2147483647 (3 more)"


async def test_a_column_added_later_travels_without_new_code(
    source: Database, furnished: House, target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = sa.MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.sorted_tables:
        table.to_metadata(later)
    later.tables["goals"].append_column(sa.Column("mood_today", sa.String(8), server_default="calm", nullable=False))
    later.tables["goals"].append_column(moment("due_at"))
    described = describe(later)
    monkeypatch.setattr(tables, "KINDS", described)
    monkeypatch.setitem(tables.BY_NAME, "goal", next(kind for kind in described if kind.name == "goal"))
    async with AsyncExitStack() as stack:
        for db in (source, target):
            for column in ("mood_today VARCHAR(8) DEFAULT 'calm' NOT NULL", "due_at BIGINT"):
                await db.write(Tx.execute, sa.text(f"ALTER TABLE goals ADD COLUMN {column}"))
                drop = sa.text(f"ALTER TABLE goals DROP COLUMN {column.split()[0]}")
                stack.push_async_callback(db.write, Tx.execute, drop)
        await _goals_travel(source, target, tmp_path)


async def _goals_travel(source: Database, target: Database, tmp_path: Path) -> None:
    await source.write(Tx.execute, sa.text("UPDATE goals SET mood_today = 'eager', due_at = 1000"))

    lines = await exported(source)
    (goal,) = of_type(lines, "goal")
    assert (goal["moodToday"], goal["dueAt"]) == ("eager", "1970-01-01T00:00:01.000Z")
    assert (await imported(target, lines, tmp_path))[0].clean
    assert of_type(await exported(target), "goal") == [goal]
    with pytest.raises(Refused, match="moodToday: string should have at most 8 characters"):
        parse(Raw(1, orjson.dumps({**goal, "moodToday": "far too long"})), "gateway")
    # A file that was written before the column existed leaves it out.
    del goal["moodToday"]
    old = parse(Raw(1, orjson.dumps(goal)), "gateway")
    assert isinstance(old, Line)
    assert "mood_today" not in old.values


def test_a_key_of_an_earlier_version_is_read_under_its_new_name() -> None:
    line = {"type": "message", "id": "msg_0123456789abcdef", "spaceId": "spc_0123456789abcdef", "seq": 1, "text": "hi"}
    line |= {"senderId": "ent_0123456789abcdef", "createdAt": "2026-02-18T15:07:00.000Z"}
    parsed = parse(Raw(1, orjson.dumps({**line, "rootCause": line["id"]})), "gateway")
    assert isinstance(parsed, Line)
    assert parsed.values["caused_by"] == line["id"]
