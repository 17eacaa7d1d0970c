"""Keeps the data directory private: mode 700, and 600 for the files in it (G10)."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

import structlog

_OTHERS = 0o077
_OWN_FILES = frozenset({"server.key", "majlis.db"})
_logger = structlog.get_logger(__name__)


def make_private(data_dir: Path, database: Path | None) -> None:
    """`database` is the SQLite file, which may lie elsewhere."""
    for path in exposed(data_dir, database):
        try:
            path.chmod(mode(path) & ~_OTHERS)
        except FileNotFoundError:
            continue
        except OSError as error:
            _logger.warning("other users may read this file", path=str(path), error=error.strerror)


def exposed(data_dir: Path, database: Path | None) -> list[Path]:
    """The directory, the files in it and the database, as far as other users of this machine may use them."""
    found: set[Path] = set()
    with contextlib.suppress(OSError):
        files = [path for path in data_dir.iterdir() if path.is_file()]
        if _is_ours(data_dir, files):
            found = {data_dir, *files}
    if database is not None and database.is_file():
        found |= {path for path in database.parent.glob(f"{database.name}*") if path.is_file()}
    return sorted(path for path in found if mode(path) & _OTHERS)


def mode(path: Path) -> int:
    """0 if the file has gone: SQLite removes its log when another process closes the database."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0


def _is_ours(data_dir: Path, files: list[Path]) -> bool:
    """A directory that others share, such as /tmp, keeps its mode."""
    return not mode(data_dir) & stat.S_ISVTX and any(path.name in _OWN_FILES for path in files)
