"""A tool of an MCP server."""

from __future__ import annotations

from typing import Any, Literal

from majlis.agents.config.mcp import McpServer
from majlis.errors import MajlisError
from majlis.tool_decorator import ToolContext
from majlis.tools.json_schema import parse_object
from majlis.tools.mcp.offer import Offered
from majlis.tools.mcp.results import result_json
from majlis.tools.mcp.servers import Servers
from majlis.tools.reach.secrets import Secrets

# Errors after the call was sent.
_SENT = ("timeout", "mcp_error", "mcp_broken")


class Mcp:
    """Not idempotent: what a server says about the effects of its tools is only a hint."""

    outside: Literal[True] = True
    visible = False
    idempotent = False

    def __init__(self, config: McpServer, offered: Offered, servers: Servers, secrets: Secrets) -> None:
        self.name = offered.spec.name
        self._config = config
        self._offered = offered
        self._servers = servers
        self._secrets = secrets

    def parse(self, arguments: str) -> dict[str, Any]:
        """The server validates the input against its own schema."""
        return parse_object(self.name, arguments)

    async def act(self, context: ToolContext, input: dict[str, Any]) -> Any:
        try:
            result = await self._servers.call(self._config, self._offered.tool, input, context.tell)
        except MajlisError as error:
            effect = "It is unknown whether it had an effect" if error.code in _SENT else "It was not called"
            advice = "Your other tools work. Try this one again later, or continue without it."
            message = f"{self.name} failed: {error.message.rstrip('.')}. {effect}. {advice}"
            raise MajlisError(error.code, self._secrets.mask(message)) from None
        found = self._secrets.mask_all(result_json(result))
        if result.is_error:
            raise MajlisError("tool_error", f"{self.name} returned an error: {found.get('text') or found}")
        return found
