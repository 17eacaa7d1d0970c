"""The tools of one agent: the built-in ones of its mind, then those of its config, always in the same order."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace

from majlis.agents.config.config import AgentConfig
from majlis.agents.config.tools import HttpTool, PythonTool, SpaceTool, StaticTool
from majlis.agents.config.tools import Tool as ToolConfig
from majlis.errors import MajlisError
from majlis.models.port import ToolSpec
from majlis.runs.calls.tool_port import Tool
from majlis.tools.allowed import Allowed
from majlis.tools.builtin import cycles, goals, inbox, memories, messages, phases, plans, runs, spaces, turns
from majlis.tools.builtin.base import BuiltIn
from majlis.tools.card import Space
from majlis.tools.http.exchange import Exchange
from majlis.tools.http.tool import Http
from majlis.tools.mcp.servers import Servers
from majlis.tools.mcp.tool import Mcp
from majlis.tools.python.functions import Functions
from majlis.tools.python.tool import Python
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from majlis.tools.static import Static

_EVERY_MIND = (
    spaces.ENTER_SPACE, messages.READ_MESSAGES, *runs.TOOLS, *memories.TOOLS, *goals.TOOLS, *plans.TOOLS
)  # fmt: skip
_BY_MIND: dict[str, tuple[BuiltIn, ...]] = {
    "consciousness": (*inbox.TOOLS, *cycles.TOOLS),
    "roles": phases.TOOLS,
}
# `find` finds them for every agent; they are offered only to an orchestrator.
_IN_SOME_PLACES = (turns.ROUTE,)


@dataclass(frozen=True)
class _Kit:
    """What is worked out for a config, and kept as long as the config object is."""

    config: AgentConfig
    tools: dict[str, Tool]
    specs: tuple[ToolSpec, ...]
    problems: list[str]
    built_in: frozenset[str]


class Tools:
    """A `Toolbox`."""

    def __init__(self, allowed: Allowed | None = None) -> None:
        allowed = allowed or Allowed()
        self.functions = Functions(allowed.modules)
        self._secrets = Secrets(allowed.env)
        reach = Reach(allowed.hosts, allowed.private_hosts)
        self._exchange = Exchange(reach)
        self.servers = Servers(reach, self._secrets, frozenset(allowed.commands))
        self._known: dict[int, _Kit] = {}

    async def open(self, config: AgentConfig) -> list[str]:
        if not config.tools and not config.mcp:
            return []
        # In a thread: modules of tools may be slow to import.
        kit = self._known_kit(config)
        if kit is None:
            kit = await asyncio.to_thread(self._kit, config)
        reasons = await asyncio.gather(*(self.servers.open(server) for server in config.mcp))
        failures = [(server.name, reason) for server, reason in zip(config.mcp, reasons, strict=True) if reason]
        return kit.problems + [f"The tools of {name} (MCP) cannot be used: {reason}" for name, reason in failures]

    def specs(self, config: AgentConfig) -> tuple[ToolSpec, ...]:
        """Two of one name would be refused by providers: the first is meant, as in `find`."""
        kit = self._kit(config)
        foreign: dict[str, ToolSpec] = {}
        for server in filter(self.servers.works, config.mcp):
            for name, offered in self.servers.offered(server).items():
                if name not in kit.tools:
                    foreign.setdefault(name, offered.spec)
        return (*kit.specs, *foreign.values())

    def beside(self, names: Collection[str]) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in _IN_SOME_PLACES if tool.name in names)

    def find(self, config: AgentConfig, name: str) -> Tool | None:
        found = self._kit(config).tools.get(name)
        if found is not None:
            return found
        for server in config.mcp:
            offered = self.servers.offered(server).get(name)
            if offered is not None:
                return Mcp(server, offered, self.servers, self._secrets)
        return None

    def is_own(self, config: AgentConfig, name: str) -> bool:
        return name not in self._kit(config).built_in

    async def close(self) -> None:
        await self.servers.close()

    def _known_kit(self, config: AgentConfig) -> _Kit | None:
        found = self._known.get(id(config))
        return found if found is not None and found.config is config else None

    def _kit(self, config: AgentConfig) -> _Kit:
        found = self._known_kit(config)
        if found is None:
            built_in = built_in_tools(config.mind, config.waits)
            tools: dict[str, Tool] = {tool.name: tool for tool in (*built_in, *_IN_SOME_PLACES)}
            found = _Kit(config, tools, tuple(tool.spec for tool in built_in), [], frozenset(tools))
            found = self._with_configured(found)
            if len(self._known) > 2000:
                self._known.clear()
            self._known[id(config)] = found
        return found

    def _with_configured(self, kit: _Kit) -> _Kit:
        tools, specs, problems = dict(kit.tools), list(kit.specs), []
        for each in kit.config.tools:
            try:
                made = self._make(each)
            except MajlisError as error:
                problems.append(f"The tool {each.name} cannot be used: {error.message}")
                continue
            tools[each.name] = made[0]
            specs.append(made[1])
        return replace(kit, tools=tools, specs=tuple(specs), problems=problems)

    def _make(self, config: ToolConfig) -> tuple[Tool, ToolSpec]:
        match config:
            case StaticTool():
                return Static(config), ToolSpec(config.name, config.description, dict(config.input_schema))
            case HttpTool():
                made = Http(config, self._exchange, self._secrets)
                return made, ToolSpec(config.name, config.description, dict(config.input_schema))
            case PythonTool():
                python = Python(config, self.functions.find(config.execution.function))
                return python, ToolSpec(config.name, python.description, python.schema)
            case SpaceTool():
                space = Space(config)
                return space, ToolSpec(config.name, config.description, dict(space.schema))


def built_in_tools(mind: str = "timeline", waits: bool = True) -> tuple[BuiltIn, ...]:
    """Only a timeline can wait; in other minds an answer comes with a later run or cycle (M2)."""
    send = messages.SEND_MESSAGE_AND_WAIT if waits and mind == "timeline" else messages.SEND_MESSAGE
    return (send, *_EVERY_MIND, *_BY_MIND.get(mind, ()))
