"""`<server>__<tool>`: how models call the tools of MCP servers. Always both, so that a name does not change its meaning
when another server is added."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64


def name_tools(server: str, tools: Iterable[str]) -> dict[str, str]:
    """From the name for models to the server's own. What providers do not take as a name is written otherwise."""
    names: dict[str, str] = {}
    for tool in tools:
        name = _fitting(f"{server}__{tool}")
        if name in names:
            name = _marked(name, tool)
        names[name] = tool
    return names


def _fitting(name: str) -> str:
    plain = _NOT_IN_NAMES.sub("_", name)
    return plain if len(plain) <= _LONGEST else _marked(plain, name)


def _marked(name: str, tool: str) -> str:
    mark = sha256(tool.encode(errors="replace")).hexdigest()[:8]
    return f"{name[: _LONGEST - 9]}_{mark}"
