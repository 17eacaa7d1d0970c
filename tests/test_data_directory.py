"""G10: the data directory is private."""

from __future__ import annotations

from pathlib import Path

import pytest

from majlis.data_directory import exposed, make_private, mode


def test_g10_the_directory_and_its_files_become_private(tmp_path: Path) -> None:
    database = tmp_path / "majlis.db"
    log = tmp_path / "majlis.db-wal"
    for file in (database, log):
        file.touch(0o644)
    tmp_path.chmod(0o755)
    make_private(tmp_path, database)
    assert (mode(tmp_path), mode(database), mode(log)) == (0o700, 0o600, 0o600)
    assert exposed(tmp_path, database) == []


def test_g10_a_file_that_disappears_meanwhile_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: SQLite removed its log between the listing and the look at its mode, and a command failed."""
    database = tmp_path / "majlis.db"
    log = tmp_path / "majlis.db-wal"
    for file in (database, log):
        file.touch(0o644)
    is_file = Path.is_file

    def goes_after_the_look(path: Path) -> bool:
        found = is_file(path)
        if path == log:
            log.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(Path, "is_file", goes_after_the_look)
    make_private(tmp_path, database)
    assert mode(database) == 0o600
    assert not log.exists()
