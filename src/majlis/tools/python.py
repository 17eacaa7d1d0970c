"""Python tools: a function of a module that the settings allow. Sync functions run in threads."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable
from typing import Any, Literal

from majlis.agents.input_schema import no_input
from majlis.agents.tool_config import PythonTool
from majlis.errors import Invalid
from majlis.runs.toolbox import CallContext
from majlis.tools.checking import parse_input


class Python:
    outside: Literal[True] = True

    def __init__(self, config: PythonTool, modules: frozenset[str]) -> None:
        self.name = config.name
        self.visible = config.visible
        self.idempotent = config.idempotent
        self._config = config
        self._modules = modules

    def parse(self, arguments: str) -> Any:
        return parse_input(self.name, self._config.input_schema or no_input(), arguments)

    async def act(self, context: CallContext, input: Any) -> Any:
        function = self._find()
        arguments = dict(input)
        if "context" in inspect.signature(function).parameters:
            arguments["context"] = context
        if inspect.iscoroutinefunction(function):
            return await function(**arguments)
        return await asyncio.to_thread(function, **arguments)

    def _find(self) -> Callable[..., Any]:
        """Only modules that the settings name: a config is data, and must not be able to run any code there is."""
        module, _, name = self._config.execution.function.partition(":")
        if module not in self._modules:
            raise Invalid(
                "module_not_allowed",
                f"{self.name} was not called: the module {module} is not among tool_modules in the settings.",
            )
        found = getattr(importlib.import_module(module), name, None)
        if not callable(found):
            raise Invalid("unknown_function", f"{self.name} was not called: {module} has no function {name}.")
        return found  # type: ignore[no-any-return]
