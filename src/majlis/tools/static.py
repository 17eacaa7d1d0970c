"""Static tools: the same answer, always."""

from __future__ import annotations

from typing import Any, Literal

from majlis.agents.config.tools import StaticTool
from majlis.tool_decorator import ToolContext
from majlis.tools.json_schema import parse_input


class Static:
    outside: Literal[True] = True

    def __init__(self, config: StaticTool) -> None:
        self.name = config.name
        self.visible = config.visible
        # Nothing happens, so it may happen twice.
        self.idempotent = True
        self._config = config

    def parse(self, arguments: str) -> Any:
        return parse_input(self.name, self._config.input_schema, arguments)

    async def act(self, context: ToolContext, input: Any) -> Any:
        return self._config.execution.output
