"""Which process works on a run. The name tells enough for a neighbour on the same machine to see that it has died.

A lease of 30 s would do alone; but after a crash on one machine nobody should wait 30 s when the process table knows.
Names of other machines, or of other process namespaces, are never judged: their lease has to run out.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from functools import cache
from hashlib import blake2b
from pathlib import Path

LEASE_MILLIS = 30_000
HEARTBEAT_SECONDS = 10


def new_owner() -> str:
    return f"{_realm()}.{os.getpid()}.{secrets.token_hex(6)}"


def is_dead(owner: str) -> bool:
    """True only for a process of this very machine that is certainly gone."""
    realm, _, rest = owner.partition(".")
    pid = rest.partition(".")[0]
    if realm != _realm() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(int(pid))


@cache
def _realm() -> str:
    """This boot of this machine and this process namespace; unknown parts make it unlike any other."""
    parts = []
    for source in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        try:
            parts.append(str(source.readlink()) if source.is_symlink() else source.read_text())
        except OSError:
            parts.append(secrets.token_hex(8))
    return blake2b("|".join(parts).encode(), digest_size=6).hexdigest()


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False
