"""R9: what counts as a damaged message."""

from __future__ import annotations

import json
import sqlite3

import pytest
import sqlalchemy as sa

from majlis.spaces.damaged_rows import Unreadable, reading


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.OperationalError("Could not decode to UTF-8 column 'text' with text 'x'"),
        json.JSONDecodeError("Expecting value", "", 0),
        TypeError("the JSON object must be str"),
    ],
)
def test_r9_a_row_that_cannot_be_read_is_damaged(error: Exception) -> None:
    with pytest.raises(Unreadable), reading():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.OperationalError("database is locked"),
        sqlite3.OperationalError("disk I/O error"),
        sa.exc.OperationalError("SELECT 1", None, Exception("the connection was closed")),
    ],
)
def test_r9_a_database_that_is_away_has_damaged_nothing(error: Exception) -> None:
    """A message that could not be read for a moment used to be treated as damaged and left out silently."""
    with pytest.raises(type(error)), reading():
        raise error
