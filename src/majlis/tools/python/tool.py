"""A `python` tool: its input becomes the function's arguments, and what it returns the result."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from majlis.agents.config.tools import PythonTool
from majlis.errors import MajlisError
from majlis.tool_decorator import ToolContext
from majlis.tools.json_schema import input_error, parse_input
from majlis.tools.python.functions import Function
from majlis.tools.python.threads import Escaped, in_thread


class Python:
    outside: Literal[True] = True

    def __init__(self, config: PythonTool, function: Function) -> None:
        self.name = config.name
        self.visible = config.visible
        self.idempotent = config.idempotent
        self.description = config.description or function.signature.description
        self.schema = config.input_schema or function.signature.schema
        self._function = function

    def parse(self, arguments: str) -> dict[str, Any]:
        given = parse_input(self.name, self.schema, arguments)
        try:
            return self._function.signature.read(given)
        except ValidationError as error:
            raise input_error(self.name, error) from None

    async def act(self, context: ToolContext, input: dict[str, Any]) -> Any:
        arguments = dict(input)
        if self._function.signature.context is not None:
            arguments[self._function.signature.context] = context
        call = partial(self._function.call, **arguments)
        if inspect.iscoroutinefunction(self._function.call):
            return self._as_json(await _guarded(call))
        return self._as_json(await in_thread(call))

    def _as_json(self, result: Any) -> Any:
        try:
            return to_jsonable_python(result)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise MajlisError(
                "not_json",
                f"{self.name} was called and had its effect, but its result is not JSON ({str(error)[:200]}). "
                "Do not call it again; tell people that the tool needs mending.",
            ) from None


async def _guarded(call: partial[Any]) -> Any:
    """A tool must not end the run, or the process, by what it throws."""
    try:
        return await call()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise Escaped("CancelledError") from None
    except (SystemExit, KeyboardInterrupt) as error:
        raise Escaped(type(error).__name__) from None
