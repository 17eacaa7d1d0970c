"""The base of `http`, `python` and `static` tools, and the `static` tool itself."""

from __future__ import annotations

from typing import Any, Literal

from majlis.agents.config.tools import HttpTool, PythonTool, StaticTool
from majlis.models.port import ToolSpec
from majlis.tool_decorator import ToolContext
from majlis.tools.json_schema import parse_input


class ConfiguredTool:
    outside: Literal[True] = True

    def __init__(
        self, config: HttpTool | PythonTool | StaticTool, description: str = "", schema: dict[str, Any] | None = None
    ) -> None:
        self.name = config.name
        self.visible = config.visible
        self.idempotent = config.idempotent
        input_schema = config.input_schema or schema or {}
        self.spec = ToolSpec(config.name, config.description or description, dict(input_schema))

    def parse(self, arguments: str) -> Any:
        return parse_input(self.name, self.spec.schema, arguments)


class Static(ConfiguredTool):
    def __init__(self, config: StaticTool) -> None:
        super().__init__(config)
        self.idempotent = True
        self._output = config.execution.output

    async def act(self, context: ToolContext, input: Any) -> Any:
        return self._output
