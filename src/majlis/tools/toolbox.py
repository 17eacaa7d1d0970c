"""The tools of an agent: the built-in ones of its mind, then those of its config, always in the same order."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from majlis.agents.config.config import AgentConfig
from majlis.agents.config.tools import HttpTool, PythonTool, SpaceTool, StaticTool
from majlis.agents.config.tools import Tool as ToolConfig
from majlis.errors import MajlisError
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.calls.tool_port import Tool
from majlis.secret_store import SecretStore
from majlis.settings import Settings
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn
from majlis.tools.builtin.cycles import peek_inbox, recall_cycles, skip
from majlis.tools.builtin.files import read_file, send_files
from majlis.tools.builtin.goals import delete_goals, set_goals
from majlis.tools.builtin.held_result import held_result
from majlis.tools.builtin.memories import delete_memories, get_memories, set_memories
from majlis.tools.builtin.messages import explain_message, read_messages, search_messages
from majlis.tools.builtin.own_messages import delete_message, edit_message, pin_message, react, unpin_message
from majlis.tools.builtin.plans import delete_plans, get_plans, set_plans
from majlis.tools.builtin.runs import absorb_run, get_my_runs, stop_run
from majlis.tools.builtin.send_message import send_message, send_message_and_wait
from majlis.tools.builtin.spaces import enter_space, hand_over
from majlis.tools.builtin.turns import route
from majlis.tools.configured import Static
from majlis.tools.http.tool import Http
from majlis.tools.mcp.servers import Servers
from majlis.tools.mcp.tool import Mcp
from majlis.tools.python.functions import Functions
from majlis.tools.python.tool import Python
from majlis.tools.reach.exchange import Exchange
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from majlis.tools.space_tool import SpaceCard

_EVERY_MIND = (
    enter_space, read_messages, search_messages, explain_message, read_file, edit_message, delete_message, react,
    pin_message, unpin_message, get_my_runs, stop_run, absorb_run, set_memories, get_memories, delete_memories,
    set_goals, delete_goals, set_plans, get_plans, delete_plans,
)  # fmt: skip
_BY_MIND = {"consciousness": (peek_inbox, skip, recall_cycles), "roles": (hand_over,)}
# `find` finds them for every agent; they are offered only to an orchestrator.
_IN_SOME_PLACES = (route,)


@dataclass(frozen=True)
class Allowed:
    """What tools may reach and run, from the settings. By default nothing."""

    modules: Sequence[str] = ()
    hosts: Sequence[str] = ()
    private_hosts: Sequence[str] = ()
    env: Sequence[str] = ()
    commands: Sequence[str] = ()

    @classmethod
    def by(cls, settings: Settings) -> Allowed:
        return cls(
            settings.tool_modules,
            settings.tool_hosts,
            settings.tool_private_hosts,
            settings.tool_env,
            settings.mcp_commands,
        )


@dataclass(frozen=True)
class _Kit:
    """The tools of a config without those of MCP servers; cached as long as the config object is."""

    config: AgentConfig
    tools: dict[str, Tool]
    specs: tuple[ToolSpec, ...]
    problems: list[str]


class Tools:
    """A `Toolbox`."""

    def __init__(self, allowed: Allowed | None = None, store: SecretStore | None = None) -> None:
        allowed = allowed or Allowed()
        self.functions = Functions(allowed.modules)
        self._secrets = Secrets(allowed.env, store=store)
        self.reach = reach = Reach(allowed.hosts, allowed.private_hosts)
        self._exchange = Exchange(reach)
        self.servers = Servers(reach, self._secrets, frozenset(allowed.commands))
        self._kits: dict[int, _Kit] = {}

    async def open(self, config: AgentConfig) -> list[str]:
        if not config.tools and not config.mcp:
            return []
        # In a thread: modules of tools may be slow to import.
        kit = self._cached(config)
        if kit is None:
            kit = await asyncio.to_thread(self._kit, config)
        reasons = await asyncio.gather(*(self.servers.open(server) for server in config.mcp))
        failures = [(server.name, reason) for server, reason in zip(config.mcp, reasons, strict=True) if reason]
        return kit.problems + [f"The tools of {name} (MCP) cannot be used: {reason}" for name, reason in failures]

    def specs(self, config: AgentConfig) -> tuple[ToolSpec, ...]:
        """Providers reject duplicate names: the first tool of a name wins, as in `find`."""
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
        return not isinstance(self._kit(config).tools.get(name), BuiltIn)

    def held(self, tx: Tx, context: CallContext, space_id: str) -> ToolResult:
        return held_result(tx, context, space_id)

    async def close(self) -> None:
        await self.servers.close()

    def _cached(self, config: AgentConfig) -> _Kit | None:
        found = self._kits.get(id(config))
        return found if found is not None and found.config is config else None

    def _kit(self, config: AgentConfig) -> _Kit:
        if found := self._cached(config):
            return found
        built_in = built_in_tools(config.mind, config.waits)
        tools: dict[str, Tool] = {tool.name: tool for tool in (*built_in, *_IN_SOME_PLACES)}
        specs, problems = [tool.spec for tool in built_in if _is_offered(tool, config)], []
        for each in config.tools:
            try:
                made = self._make(each)
            except MajlisError as error:
                problems.append(f"The tool {each.name} cannot be used: {error.message}")
                continue
            tools[each.name] = made
            specs.append(made.spec)
        if len(self._kits) > 2000:
            self._kits.clear()
        kit = self._kits[id(config)] = _Kit(config, tools, tuple(specs), problems)
        return kit

    def _make(self, config: ToolConfig) -> Static | Http | Python | SpaceCard:
        match config:
            case StaticTool():
                return Static(config)
            case HttpTool():
                return Http(config, self._exchange, self._secrets)
            case PythonTool():
                return Python(config, self.functions.find(config.execution.function))
            case SpaceTool():
                return SpaceCard(config)


def _is_offered(tool: BuiltIn, config: AgentConfig) -> bool:
    """An agent that speaks by text is not offered a second way (E10)."""
    return config.speak == "tool" or tool.name not in ("send_message", "send_files")


def built_in_tools(mind: str = "timeline", waits: bool = True) -> tuple[BuiltIn, ...]:
    """Only a timeline can wait; in other minds an answer comes with a later run or cycle (M2)."""
    if waits and mind in ("timeline", "outside"):
        return (send_message_and_wait, *_EVERY_MIND, *_BY_MIND.get(mind, ()))
    # The input of this `send_message` is exactly the text.
    return (send_message, *_EVERY_MIND, send_files, *_BY_MIND.get(mind, ()))
