"""The server's key: from the environment, or made once and kept in the data directory, readable by its owner only."""

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

_FILE = "server.key"
_MIN_LENGTH = 32


def load_server_key(settings: Settings) -> bytes:
    if settings.secret_key is not None:
        key = settings.secret_key.get_secret_value().encode()
        if len(key) < _MIN_LENGTH:
            raise ConfigurationError(f"MAJLIS_SECRET_KEY must have at least {_MIN_LENGTH} characters.")
        return key
    path = settings.data_dir / _FILE
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _make(path)
    except OSError as error:
        raise ConfigurationError(
            f"The data directory {settings.data_dir} cannot be written ({error.strerror}). "
            "Choose another with --data-dir."
        ) from None
    key = path.read_bytes().strip()
    if len(key) < _MIN_LENGTH:
        raise ConfigurationError(f"The server's key in {path} is damaged. Restore it from a backup.")
    return key


def _make(path: Path) -> None:
    """Written aside and then linked into place: of two processes that start at once, one makes the key, and the
    other reads it whole."""
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=".server-key-")  # readable by its owner only
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        os.unlink(aside)


def check_server_key(tx: Tx, key: bytes) -> None:
    """Every node must have the key the database was set up with, or no token of the others would work here."""
    mark = hashlib.sha256(b"majlis key mark" + key).hexdigest()
    found = tx.execute(sa.select(gateway.c.value).where(gateway.c.key == "server_key_mark")).scalar_one_or_none()
    if found is None:
        tx.execute(gateway.insert(), {"key": "server_key_mark", "value": mark})
    elif found != mark:
        raise ConfigurationError(
            "This database was set up with another server key. Give every node the same MAJLIS_SECRET_KEY "
            "(or the same server.key file in its data directory)."
        )
