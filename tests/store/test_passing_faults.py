"""Passing faults of SQLite, each made by a real database. Those of PostgreSQL are in
acceptance/test_database_outage.py."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
import structlog

from majlis.outage import Outage
from majlis.store.open import open_database
from majlis.store.passing_faults import is_full, is_passing


async def test_a_full_disk_is_a_passing_fault(tmp_path: Path) -> None:
    db = open_database(f"sqlite:///{tmp_path}/majlis.db")
    await db.write(lambda tx: tx.execute(sa.text("CREATE TABLE t (x)")))
    await db.write(lambda tx: tx.execute(sa.text("PRAGMA max_page_count = 4")))
    with pytest.raises(sa.exc.OperationalError, match="full") as caught:
        await db.write(lambda tx: tx.execute(sa.text("INSERT INTO t VALUES (zeroblob(1000000))")))
    assert is_passing(caught.value)
    assert is_full(caught.value)
    await db.close()


def test_a_locked_database_is_a_passing_fault(tmp_path: Path) -> None:
    one, two = (sqlite3.connect(tmp_path / "a.db", timeout=0, isolation_level=None) for _ in range(2))
    one.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError) as caught:
        two.execute("BEGIN EXCLUSIVE")
    assert is_passing(caught.value)
    one.close()
    two.close()


async def test_mistakes_of_ours_are_not_passing_faults(tmp_path: Path) -> None:
    db = open_database(f"sqlite:///{tmp_path}/majlis.db")
    with pytest.raises(sa.exc.OperationalError) as caught:
        await db.write(lambda tx: tx.execute(sa.text("SELECT * FROM nothing_of_this_name")))
    assert not is_passing(caught.value)
    assert not is_passing(ValueError("no"))
    await db.close()


def test_a_logged_outage_quotes_no_content() -> None:
    damaged = sqlite3.OperationalError("Could not decode to UTF-8 column 'data' with text 'a secret'")
    refused = OSError("failing row\nDETAIL: (a secret)")
    for error, said in (
        (UnicodeDecodeError("utf-8", b"a secret", 0, 1, "invalid start byte"), "UnicodeDecodeError"),
        (sa.exc.OperationalError("SELECT", {}, damaged), "OperationalError: Could not decode to UTF-8 column 'data'"),
        (sa.exc.OperationalError("SELECT", {}, refused), "OSError: failing row"),
        (ConnectionRefusedError(111, "Connection refused"), "ConnectionRefusedError: [Errno 111] Connection refused"),
    ):
        with structlog.testing.capture_logs() as logs:
            Outage("polling").failed(error)
        assert [each["error"] for each in logs] == [said]
