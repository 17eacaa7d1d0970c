"""The port to tools: `tools/` makes them, runs only call them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal, Protocol

from majlis.agents.config.config import AgentConfig
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.run import Run
from majlis.store.transactions import Tx
from majlis.tool_decorator import ToolContext

if TYPE_CHECKING:
    from majlis.runs.engine import Engine


class InTransaction(Protocol):
    """Acts on the database only: effect and journal are one transaction."""

    @property
    def outside(self) -> Literal[False]: ...
    @property
    def name(self) -> str: ...
    @property
    def own(self) -> bool:
        """From the agent's config, so policies apply."""
        ...

    @property
    def visible(self) -> bool:
        """People in the active space see the call while it is written. (`send_message` streams its text instead.)"""
        ...

    def parse(self, arguments: str) -> Any:
        """Raises Invalid with what to fix, for the model."""
        ...

    async def loaded(self, engine: Engine, run: Run, input: Any) -> Any:
        """What `call` gets: the input, or what was read for it from outside the database."""
        ...

    def call(self, tx: Tx, context: CallContext, input: Any) -> ToolResult: ...


class Outside(Protocol):
    """Acts on the outside world: journalled as started, called, journalled as done."""

    @property
    def outside(self) -> Literal[True]: ...
    @property
    def name(self) -> str: ...
    @property
    def visible(self) -> bool: ...
    @property
    def idempotent(self) -> bool: ...

    def parse(self, arguments: str) -> Any: ...

    async def act(self, context: ToolContext, input: Any) -> Any:
        """The result for the model; it is converted to plain JSON. A MajlisError becomes an error result."""
        ...


Tool = InTransaction | Outside


class Toolbox(Protocol):
    async def open(self, config: AgentConfig) -> list[str]:
        """Called before a run's first request: connects to MCP servers. Returns a note for each that cannot be used;
        the run goes on without it."""
        ...

    def specs(self, config: AgentConfig) -> tuple[ToolSpec, ...]:
        """The tools in a fixed order, since they start every prompt and providers cache prefixes."""
        ...

    def beside(self, names: Collection[str]) -> tuple[ToolSpec, ...]:
        """The specs of tools that an agent has only in some spaces. `find` finds them everywhere."""
        ...

    def find(self, config: AgentConfig, name: str) -> Tool | None: ...

    def held(self, tx: Tx, context: CallContext, space_id: str) -> ToolResult:
        """The result of a message that was held: what the run has not looked at yet (E8)."""
        ...

    def is_own(self, config: AgentConfig, name: str) -> bool:
        """From the config or an MCP server, not built in."""
        ...
