"""What the executor needs to know of tools. They are made in `tools/`; runs only call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from majlis.agents.config import AgentConfig
from majlis.models.port import ToolSpec
from majlis.runs.acting import Acting, ToolResult
from majlis.store.transactions import Tx


class InTransaction(Protocol):
    """Acts on the database only: effect and journal are one transaction."""

    @property
    def outside(self) -> Literal[False]: ...
    @property
    def name(self) -> str: ...

    def parse(self, arguments: str) -> Any:
        """Raises Invalid with what is wrong, for the model to mend."""
        ...

    def call(self, tx: Tx, acting: Acting, input: Any) -> ToolResult: ...


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who calls, and the key under which a repeated call can be recognised."""

    agent_id: str
    agent_name: str
    run_id: str
    space_id: str | None
    idempotency_key: str


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

    async def act(self, context: CallContext, input: Any) -> Any:
        """JSON for the model. A MajlisError is an error result."""
        ...


Tool = InTransaction | Outside


class Toolbox(Protocol):
    def specs(self, config: AgentConfig) -> tuple[ToolSpec, ...]:
        """In a fixed order: they are the beginning of every prompt, and providers cache beginnings."""
        ...

    def find(self, config: AgentConfig, name: str) -> Tool | None: ...
