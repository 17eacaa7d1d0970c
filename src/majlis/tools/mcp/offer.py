"""The tools of a server as models see them: allowed by the config, renamed to `<server>__<tool>`, limited in size.

The name always has both parts, so that adding a server does not change the meaning of a name. A server with
resources or prompts gets a tool for each of these kinds after its own tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import structlog

from majlis.agents.config.mcp import McpServer
from majlis.models.port import ToolSpec
from majlis.runs.calls.result import clean, plain

if TYPE_CHECKING:
    from mcp.types import Prompt, Resource, ResourceTemplate, Tool

MAX_SCHEMA = 64 * 1024
MAX_DESCRIPTION = 4096
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME = 64
_MAX_SOME = 10
_MAX_SHOWN = 120
_logger = structlog.get_logger(__name__)


Kind = Literal["tool", "read_resource", "get_prompt"]


@dataclass(frozen=True, slots=True)
class Offered:
    tool: str
    """Its name on the server."""
    spec: ToolSpec
    kind: Kind = "tool"


@dataclass(slots=True)
class Listed:
    """All that a server has to offer."""

    tools: list[Tool] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    templates: list[ResourceTemplate] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)


def offer(config: McpServer, listed: Listed) -> dict[str, Offered]:
    """The tools by their names for models."""
    allowed = config.allowed_tools
    found = {tool.name: tool for tool in listed.tools if _is_usable(tool) and (allowed is None or tool.name in allowed)}
    more = [kind for kind in _kinds(listed) if allowed is None or kind in allowed]
    missing = [name for name in allowed or () if name not in found and name not in more]
    if missing:
        _logger.warning("MCP server has no such tools", server=config.name, missing=missing)
    names = name_tools(config.name, found)
    offered = {name: Offered(tool, _spec(name, found[tool])) for name, tool in names.items()}
    for kind in more:
        name = f"{config.name}__{kind}"
        if len(name) > _MAX_NAME or name in offered:
            # The server has a tool of this name itself.
            name = _with_hash(name, f"{kind} of {config.name}")
        offered[name] = Offered(kind, _reader(kind, name, config.name, listed), kind)
    return offered


def _is_usable(tool: Tool) -> bool:
    """Majlis has no tasks, so it cannot call a tool that needs them."""
    return tool.execution is None or tool.execution.task_support != "required"


def _kinds(listed: Listed) -> list[Kind]:
    kinds: list[Kind] = ["read_resource"] if listed.resources or listed.templates else []
    return [*kinds, "get_prompt"] if listed.prompts else kinds


def _reader(kind: Kind, name: str, server: str, listed: Listed) -> ToolSpec:
    """The description names some, so that the model knows what to expect."""
    if kind == "read_resource":
        some = [*(each.uri for each in listed.resources), *(each.uri_template for each in listed.templates)]
        what = f"Reads a resource of {server} by its URI. Without uri: lists the resources and URI templates."
        properties: dict[str, Any] = {"uri": {"type": "string", "maxLength": 4096}}
    else:
        some = [each.name for each in listed.prompts]
        what = f"Gets a prompt that {server} has prepared. Without name: lists the prompts and their arguments."
        values = {"type": "object", "additionalProperties": {"type": "string"}}
        properties = {"name": {"type": "string", "maxLength": 256}, "arguments": values}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    shown = ", ".join(each[:_MAX_SHOWN] for each in some[:_MAX_SOME])
    rest = f" and {len(some) - _MAX_SOME} more" if len(some) > _MAX_SOME else ""
    return ToolSpec(name, clean(f"{what} There are: {shown}{rest}."), schema)


def _spec(name: str, tool: Tool) -> ToolSpec:
    """An unusable schema is not shown; the server validates the input in any case."""
    schema = plain(tool.input_schema, MAX_SCHEMA)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        schema = {"type": "object", "properties": {}}
    return ToolSpec(name, clean((tool.description or "")[:MAX_DESCRIPTION]), schema)


def name_tools(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Maps the name for models to the name on the server. Characters that providers reject are replaced."""
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
