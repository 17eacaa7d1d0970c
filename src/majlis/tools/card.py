"""Interactive tools: a card in the active space, and the first person's answer as the result (J5)."""

from __future__ import annotations

from typing import Any, Literal

from majlis.agents.config.tools import SpaceTool
from majlis.cards.ask import Question, put_up
from majlis.errors import Invalid
from majlis.runs.calls.context import Acting, ToolResult
from majlis.runs.calls.masks import holds_secrets, masked
from majlis.runs.calls.permission import judge, place_of
from majlis.store.transactions import Tx
from majlis.tools.json_schema import parse_input


class Space:
    outside: Literal[False] = False
    own = True
    visible = True

    def __init__(self, config: SpaceTool) -> None:
        self.name = config.name
        self.schema = config.model_schema
        self._config = config

    def parse(self, arguments: str) -> Any:
        return parse_input(self.name, self.schema, arguments)

    def call(self, tx: Tx, acting: Acting, input: Any) -> ToolResult:
        # Only what is denied matters: it asks people by itself.
        judge(acting.config, place_of(tx, acting.active_space_id), self.name)
        schema = self._config.answer_schema(input)
        if schema is None:
            raise Invalid("no_options", f"{self.name} was not called: give it options, the answers to choose from.")
        seconds = self._config.execution.timeout_seconds or acting.config.limits.tool_wait_seconds
        mark = f"{acting.run_id}:{acting.step}"
        shown = masked(self.schema, input) if holds_secrets(self.schema) else input
        return put_up(tx, acting, Question(self.name, self._config.ui, "answer", shown, schema, seconds, mark))
