"""Python tools whose effects survive a crash: a line in a file, synced to disk before the tool returns.

Each worker sets the name of the file when it starts. With a gate (a FIFO), the tool waits for the test after its
effect.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from majlis import ToolContext
from tests.acceptance import crash_points

effects = Path("/dev/null")
gate: Path | None = None


def charge(order: str, context: ToolContext) -> dict[str, str]:
    return _have_effect("charge", order, context)


def stamp(order: str, context: ToolContext) -> dict[str, str]:
    return _have_effect("stamp", order, context)


def explode(order: str, context: ToolContext) -> None:
    """Kills the process, as a crash in native code or a lack of memory would."""
    os.kill(os.getpid(), signal.SIGKILL)


def _have_effect(name: str, order: str, context: ToolContext) -> dict[str, str]:
    crash_points.reach(f"{name}: before its effect")
    file = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{name} {context.idempotency_key}\n".encode())
    os.fsync(file)
    os.close(file)
    crash_points.reach(f"{name}: after its effect")
    if gate is not None:
        with gate.open("rb", buffering=0) as held:
            held.read(1)
    return {"receipt": f"{name} of {order}"}


def python_tool(name: str, idempotent: bool = False) -> dict[str, object]:
    """For an agent's config."""
    return {
        "type": "python",
        "name": name,
        "idempotent": idempotent,
        "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
        "execution": {"function": f"{__name__}:{name}"},
    }


def effects_in(file: Path) -> list[tuple[str, str]]:
    """(tool, idempotency key) of every effect so far, in order."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [(name, key) for name, key in (line.split() for line in lines)]
