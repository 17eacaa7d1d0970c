"""Is there room, may we write, and is the server's key for its owner's eyes only?"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from majlis.cli.checks.finding import Finding, ok, problem, warning
from majlis.cli.local import key_file
from majlis.settings import Settings

_MEGABYTE = 1024 * 1024
_TOO_LITTLE = 100 * _MEGABYTE
_LITTLE = 1024 * _MEGABYTE


def check(settings: Settings) -> Iterator[Finding]:
    folder = _nearest(settings.data_dir.absolute())
    yield _writable(settings.data_dir, folder)
    yield _room(folder)
    yield _key(settings)


def _nearest(path: Path) -> Path:
    """The folder itself, or, while it is not made yet, the one it will be made in."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _writable(data_dir: Path, folder: Path) -> Finding:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return problem("disk", f"{folder} cannot be written.", f"Choose another with --data-dir, or chown {folder}.")
    made = "" if data_dir.exists() else " (it is made at the first start)"
    return ok("disk", f"The data directory {data_dir} can be written{made}.")


def _room(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    shown = f"{free // _MEGABYTE:,} MB are free at {folder}."
    if free >= _LITTLE:
        return ok("disk", shown)
    advice = "Make room, or move the data directory to a larger disk."
    return warning("disk", shown, advice) if free >= _TOO_LITTLE else problem("disk", shown, advice)


def _key(settings: Settings) -> Finding:
    if settings.secret_key is not None:
        return ok("disk", "The server's key comes from MAJLIS_SECRET_KEY.")
    path = key_file(settings)
    if not path.exists():
        return ok("disk", "There is no server's key yet; it is made at the first start.")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return problem("disk", f"{path} can be read by others (mode {mode:o}).", f"Run: chmod 600 {path}")
    return ok("disk", f"{path} is for its owner's eyes only.")
