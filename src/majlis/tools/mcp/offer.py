"""The tools of a server as models see them: allowed by the config, renamed to `<server>__<tool>`, limited in size.

The name always has both parts, so that adding a server does not change the meaning of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from majlis.agents.config.mcp import McpServer
from majlis.models.port import ToolSpec
from majlis.runs.calls.result import clean, plain

if TYPE_CHECKING:
    from mcp.types import Tool

MAX_SCHEMA = 64 * 1024
MAX_DESCRIPTION = 4096
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME = 64
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Offered:
    tool: str
    """Its name on the server."""
    spec: ToolSpec


def offer(config: McpServer, tools: list[Tool]) -> dict[str, Offered]:
    """By the name for models."""
    allowed = config.allowed_tools
    found = {tool.name: tool for tool in tools if allowed is None or tool.name in allowed}
    missing = [name for name in allowed or () if name not in found]
    if missing:
        _logger.warning("MCP server has no such tools", server=config.name, missing=missing)
    names = name_tools(config.name, found)
    return {name: Offered(tool, _spec(name, found[tool])) for name, tool in names.items()}


def _spec(name: str, tool: Tool) -> ToolSpec:
    """An unusable schema is not shown; the server validates the input in any case."""
    schema = plain(tool.input_schema, MAX_SCHEMA)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        schema = {"type": "object", "properties": {}}
    return ToolSpec(name, clean((tool.description or "")[:MAX_DESCRIPTION]), schema)


def name_tools(server: str, tools: Iterable[str]) -> dict[str, str]:
    """From the name for models to the name on the server. Characters that providers reject are replaced."""
    names: dict[str, str] = {}
    for tool in tools:
        full = f"{server}__{tool}"
        name = _NOT_IN_NAMES.sub("_", full)
        if len(name) > _MAX_NAME:
            name = _with_hash(name, full)
        if name in names:
            name = _with_hash(name, tool)
        names[name] = tool
    return names


def _with_hash(name: str, tool: str) -> str:
    return f"{name[: _MAX_NAME - 9]}_{sha256(tool.encode(errors='replace')).hexdigest()[:8]}"
