"""What models are told of a server's tools: those that the config allows, under names of ours, within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from majlis.agents.config.mcp import McpServer
from majlis.models.port import ToolSpec
from majlis.runs.calls.result import clean, plain
from majlis.tools.mcp.names import name_tools

if TYPE_CHECKING:
    from mcp.types import Tool

MAX_SCHEMA = 64 * 1024
MAX_DESCRIPTION = 4096
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool of a server: its own name there, and what models are told of it."""

    tool: str
    spec: ToolSpec


def offer(config: McpServer, tools: list[Tool]) -> dict[str, Offered]:
    """By the name that models use."""
    allowed = config.allowed_tools
    found = {tool.name: tool for tool in tools if allowed is None or tool.name in allowed}
    missing = [name for name in allowed or () if name not in found]
    if missing:
        _logger.warning("an MCP server lacks tools", server=config.name, missing=missing)
    names = name_tools(config.name, found)
    return {name: Offered(tool, _spec(name, found[tool])) for name, tool in names.items()}


def _spec(name: str, tool: Tool) -> ToolSpec:
    return ToolSpec(name, clean((tool.description or "")[:MAX_DESCRIPTION]), _schema(tool))


def _schema(tool: Tool) -> dict[str, Any]:
    """One that is beyond reason is not shown; the server checks what it is given, in any case."""
    schema = plain(tool.input_schema, MAX_SCHEMA)
    fits = isinstance(schema, dict) and schema.get("type") == "object"
    return schema if fits else {"type": "object", "properties": {}}
