"""The tools of one agent: the built-in ones of its mind, then those of its config, always in the same order."""

from __future__ import annotations

from collections.abc import Iterable

from majlis.agents.config import AgentConfig
from majlis.agents.tool_config import PythonTool, StaticTool
from majlis.models.port import ToolSpec
from majlis.runs.toolbox import Tool
from majlis.tools import (
    absorb_run,
    delete_goals,
    delete_memories,
    delete_plans,
    enter_space,
    get_memories,
    get_my_runs,
    get_plans,
    read_messages,
    send_message,
    set_goals,
    set_memories,
    set_plans,
    stop_run,
)
from majlis.tools.python import Python
from majlis.tools.static import Static
from majlis.tools.tool import BuiltIn

_EVERYBODY = (
    enter_space, read_messages,
    get_my_runs, stop_run, absorb_run,
    set_memories, get_memories, delete_memories,
    set_goals, delete_goals,
    set_plans, get_plans, delete_plans,
)  # fmt: skip


class Tools:
    """A `Toolbox`. What is worked out for a config is kept as long as the config object is."""

    def __init__(self, modules: Iterable[str] = ()) -> None:
        self._modules = frozenset(modules)
        self._known: dict[int, tuple[AgentConfig, dict[str, Tool], tuple[ToolSpec, ...]]] = {}

    def specs(self, config: AgentConfig) -> tuple[ToolSpec, ...]:
        return self._of(config)[2]

    def find(self, config: AgentConfig, name: str) -> Tool | None:
        return self._of(config)[1].get(name)

    def _of(self, config: AgentConfig) -> tuple[AgentConfig, dict[str, Tool], tuple[ToolSpec, ...]]:
        found = self._known.get(id(config))
        if found is None or found[0] is not config:
            built_in = [send_message.WAITING_TOOL if config.waits else send_message.TOOL]
            built_in += [module.TOOL for module in _EVERYBODY]
            own, specs = self._configured(config)
            tools: dict[str, Tool] = {**{tool.name: tool for tool in built_in}, **own}
            found = (config, tools, (*(tool.spec for tool in built_in), *specs))
            if len(self._known) > 2000:
                self._known.clear()
            self._known[id(config)] = found
        return found

    def _configured(self, config: AgentConfig) -> tuple[dict[str, Tool], list[ToolSpec]]:
        tools: dict[str, Tool] = {}
        specs: list[ToolSpec] = []
        for each in config.tools:
            match each:
                case StaticTool():
                    tools[each.name] = Static(each)
                case PythonTool():
                    tools[each.name] = Python(each, self._modules)
                case _:
                    # http, space and MCP tools are the next thing to be built; a model is not told of what it lacks.
                    continue
            schema = each.input_schema or {"type": "object", "properties": {}}
            specs.append(ToolSpec(each.name, each.description, dict(schema)))
        return tools, specs


def built_in_tools() -> tuple[BuiltIn, ...]:
    """For documentation and tests."""
    return (send_message.WAITING_TOOL, *(module.TOOL for module in _EVERYBODY))
