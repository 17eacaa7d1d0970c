"""The server key: from the environment, or created once in the data directory with mode 600."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import tempfile
from pathlib import Path

import sqlalchemy as sa

from majlis.errors import ConfigurationError
from majlis.settings import Settings
from majlis.store.tables import gateway
from majlis.store.transactions import Tx

KEY_FILE = "server.key"
_MIN_LENGTH = 32
_MARK = "server_key_mark"


def load_server_key(settings: Settings) -> bytes:
    if settings.secret_key is not None:
        key = settings.secret_key.get_secret_value().encode()
        if len(key) < _MIN_LENGTH:
            raise ConfigurationError(f"MAJLIS_SECRET_KEY must have at least {_MIN_LENGTH} characters.")
        return key
    path = settings.data_dir / KEY_FILE
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
    except OSError as error:
        problem = f"Cannot write to the data directory {settings.data_dir} ({error.strerror})."
        raise ConfigurationError(f"{problem} Choose another with --data-dir.") from None
    key = path.read_bytes().strip()
    if len(key) < _MIN_LENGTH:
        raise ConfigurationError(f"The server key in {path} is damaged. Restore it from a backup.")
    return key


def _make(path: Path) -> None:
    """Writes a temporary file and links it: of two processes that start together, one creates the key and the other
    reads it complete."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".server-key-")  # created with mode 600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def check_server_key(tx: Tx, key: bytes) -> None:
    """All nodes need the same key: tokens of one would not work on another."""
    found = stored_mark(tx)
    if found is None:
        tx.execute(gateway.insert(), {"key": _MARK, "value": mark(key)})
    elif found != mark(key):
        raise ConfigurationError(
            "This database was set up with another server key. Give every node the same MAJLIS_SECRET_KEY "
            "(or the same server.key file in its data directory)."
        )


def stored_mark(tx: Tx) -> str | None:
    """Which key the database was set up with. It does not reveal the key."""
    return tx.execute(sa.select(gateway.c.value).where(gateway.c.key == _MARK)).scalar_one_or_none()


def mark(key: bytes) -> str:
    return hashlib.sha256(b"majlis key mark" + key).hexdigest()
