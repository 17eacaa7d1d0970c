"""Tools whose effects a test can count."""

from __future__ import annotations

import threading
from typing import Any

from majlis import ToolContext

HERE = __name__
deployed: list[tuple[str, str]] = []
release = threading.Event()


def deploy(version: str, password: str = "", *, ctx: ToolContext) -> dict[str, str]:
    """Puts a version on the servers."""
    deployed.append((version, ctx.idempotency_key))
    return {"deployed": version, "with": password}


def explode(password: str) -> None:
    """Fails with a message."""
    raise RuntimeError(f"wrong password {password}")


def hold(password: str = "") -> str:
    """Waits for the test."""
    release.wait(15)
    return "held"


SCHEMA = {
    "type": "object",
    "properties": {"version": {"type": "string"}, "password": {"type": "string", "writeOnly": True, "maxLength": 32}},
}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "python", "execution": {"function": f"{HERE}:{name}"}, **more}
