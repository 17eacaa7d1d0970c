"""What the executor needs to know of tools. They are made in `tools/`; runs only call them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, Protocol

from majlis.agents.config.config import AgentConfig
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import Acting, ToolResult
from majlis.store.transactions import Tx
from majlis.tool_decorator import ToolContext


class InTransaction(Protocol):
    """Acts on the database only: effect and journal are one transaction."""

    @property
    def outside(self) -> Literal[False]: ...
    @property
    def name(self) -> str: ...
    @property
    def own(self) -> bool:
        """From the agent's config, and so subject to policies."""
        ...

    @property
    def visible(self) -> bool:
        """People in the active space see the call while it is written. (`send_message` has its own way.)"""
        ...

    def parse(self, arguments: str) -> Any:
        """Raises Invalid with what is wrong, for the model to mend."""
        ...

    def call(self, tx: Tx, acting: Acting, input: Any) -> ToolResult: ...


class Outside(Protocol):
    """Acts on the world: journalled as begun, called, journalled as done."""

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
        """For the model; whatever it is, it is made plain JSON. A MajlisError is an error result."""
        ...


Tool = InTransaction | Outside


class Toolbox(Protocol):
    async def open(self, config: AgentConfig) -> list[str]:
        """Before a run's first request: tools from elsewhere are fetched. What cannot be used is told in sentences for
        the run's notes, and the run goes on without it."""
        ...

    def specs(self, config: AgentConfig) -> tuple[ToolSpec, ...]:
        """In a fixed order: they are the beginning of every prompt, and providers cache beginnings."""
        ...

    def beside(self, names: Collection[str]) -> tuple[ToolSpec, ...]:
        """Of these tools, which an agent has only in some places. `find` finds them everywhere."""
        ...

    def find(self, config: AgentConfig, name: str) -> Tool | None: ...

    def is_own(self, config: AgentConfig, name: str) -> bool:
        """Of the config or of an MCP server, not built in."""
        ...
