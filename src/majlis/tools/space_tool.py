"""A `space` tool: posts a card in the active space, and returns the first answer (J5)."""

from __future__ import annotations

from typing import Any, Literal

from majlis.agents.config.tools import SpaceTool
from majlis.cards.ask import Question, ask
from majlis.errors import Invalid
from majlis.models.port import ToolSpec
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.calls.masks import holds_secrets, masked
from majlis.runs.calls.permission import judge, place_of
from majlis.runs.engine import Engine
from majlis.runs.run import Run
from majlis.store.transactions import Tx
from majlis.tools.json_schema import parse_input


class SpaceCard:
    outside: Literal[False] = False
    own = True
    visible = True

    def __init__(self, config: SpaceTool) -> None:
        self.name = config.name
        self.spec = ToolSpec(config.name, config.description, dict(config.model_schema))
        self._config = config

    def parse(self, arguments: str) -> Any:
        return parse_input(self.name, self.spec.schema, arguments)

    async def loaded(self, engine: Engine, run: Run, input: Any) -> Any:
        return input

    def call(self, tx: Tx, call: CallContext, input: Any) -> ToolResult:
        # Raises if the tool is denied. Approval is not needed: the card asks people anyway.
        judge(call.run.config, place_of(tx, call.run.active_space_id), self.name)
        schema = self._config.answer_schema(input)
        if schema is None:
            raise Invalid("no_options", f"{self.name} was not called: give options to choose from.")
        seconds = self._config.execution.timeout_seconds or call.run.config.limits.tool_wait_seconds
        mark = f"{call.run.id}:{call.step}"
        shown = masked(self.spec.schema, input) if holds_secrets(self.spec.schema) else input
        return ask(tx, call, Question(self.name, self._config.ui, "answer", shown, schema, seconds, mark))
