"""A `python` tool: calls a function with the model's input."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from majlis.agents.config.tools import PythonTool
from majlis.errors import MajlisError
from majlis.tool_decorator import ToolContext
from majlis.tools.configured import ConfiguredTool
from majlis.tools.json_schema import input_error
from majlis.tools.python.functions import Function
from majlis.tools.python.threads import Escaped, in_thread


class Python(ConfiguredTool):
    def __init__(self, config: PythonTool, function: Function) -> None:
        super().__init__(config, function.signature.description, function.signature.schema)
        self._call = function.call
        self._signature = function.signature

    def parse(self, arguments: str) -> dict[str, Any]:
        given = super().parse(arguments)
        try:
            return self._signature.read(given)
        except ValidationError as error:
            raise input_error(self.name, error) from None

    async def act(self, context: ToolContext, input: dict[str, Any]) -> Any:
        call = partial(self._call, **input)
        if self._signature.context is not None:
            call = partial(call, **{self._signature.context: context})
        result = await (_guarded(call) if inspect.iscoroutinefunction(self._call) else in_thread(call))
        try:
            return to_jsonable_python(result)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise MajlisError(
                "not_json",
                f"{self.name} was called and had its effect, but its result is not JSON ({str(error)[:200]}). "
                "Do not call it again; tell people that the tool needs to be fixed.",
            ) from None


async def _guarded(call: partial[Any]) -> Any:
    """Keeps an exception of the tool from ending the run or the process."""
    try:
        return await call()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise Escaped("CancelledError") from None
    except (SystemExit, KeyboardInterrupt) as error:
        raise Escaped(type(error).__name__) from None
