"""A tool of an MCP server, as a run calls it."""

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

# Of a call that was on its way; anything else went wrong before.
_UNKNOWN = ("timeout", "mcp_error", "mcp_broken")
_GO_ON = "Your other tools work; try this one again later, or do without."


class Mcp:
    """Never repeated by itself: what a server says about its tools' effects is a hint, and no promise."""

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
        """The schema is a stranger's, and the server checks against it: here only its form."""
        return parse_object(self.name, arguments)

    async def act(self, context: ToolContext, input: dict[str, Any]) -> Any:
        try:
            result = await self._servers.call(self._config, self._offered.tool, input, context.tell)
        except MajlisError as error:
            effect = "Whether it had an effect is not known" if error.code in _UNKNOWN else "It was not called"
            message = f"{self.name} failed: {error.message.rstrip('.')}. {effect}. {_GO_ON}"
            raise MajlisError(error.code, self._secrets.mask(message)) from None
        found = self._secrets.mask_all(result_json(result))
        if result.is_error:
            raise MajlisError("tool_error", f"{self.name} answered with an error: {found.get('text') or found}")
        return found
