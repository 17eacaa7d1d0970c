"""Leases: which worker has a run, and whether that worker has died.

An expired lease alone would do. But the owner's name contains its process id, so that workers on the same machine
notice a crash at once. For owners on other machines, or in other process namespaces, the lease
has to expire.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from functools import cache
from hashlib import blake2b
from pathlib import Path

RUN_LEASE_MILLIS = 30_000
HEARTBEAT_SECONDS = 10
# The lease of a program that has taken an event of an outside agent (D2).
OUTSIDE_LEASE_MILLIS = 60_000
_OUTSIDE = "outside."


def new_owner() -> str:
    return f"{realm()}.{os.getpid()}.{secrets.token_hex(6)}"


def new_outside_owner() -> str:
    """The name is also the lease that the program shows, so it cannot be guessed."""
    return f"{_OUTSIDE}{secrets.token_urlsafe(24)}"


def is_outside_owner(owner: str | None) -> bool:
    return owner is not None and owner.startswith(_OUTSIDE)


def lease_millis(owner: str) -> int:
    return OUTSIDE_LEASE_MILLIS if is_outside_owner(owner) else RUN_LEASE_MILLIS


def is_dead(owner: str) -> bool:
    """True only for a process on this machine that has certainly ended."""
    where, _, rest = owner.partition(".")
    pid = rest.partition(".")[0]
    if where != realm() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(int(pid))


@cache
def realm(pid: str = "self") -> str:
    """Identifies this boot of this machine and the process namespace. An unknown part is random, so it matches none."""
    parts = []
    for source in (Path("/proc/sys/kernel/random/boot_id"), Path(f"/proc/{pid}/ns/pid")):
        try:
            parts.append(str(source.readlink()) if source.is_symlink() else source.read_text())
        except OSError:
            parts.append(secrets.token_hex(8))
    return blake2b("|".join(parts).encode(), digest_size=6).hexdigest()


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False
