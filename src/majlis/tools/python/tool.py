"""A `python` tool: calls a function with the model's input."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from majlis.agents.config.tools import PythonTool
from majlis.errors import MajlisError
from majlis.tool_decorator import ToolContext
from majlis.tools.configured import ConfiguredTool
from majlis.tools.json_schema import input_error
from majlis.tools.python.functions import Function

T = TypeVar("T")


class Escaped(Exception):
    """The function tried to exit the process, or raised an exception that asyncio cannot carry."""


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
        result = await (_guarded(call) if inspect.iscoroutinefunction(self._call) else _in_thread(call))
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


async def _in_thread(function: Callable[[], T]) -> T:
    """Runs a synchronous function in its own daemon thread. Cancellation returns at once; the function itself cannot be
    stopped, and its result is dropped.

    asyncio's pool also serves the database: a tool that hangs would block one of its threads, and the exit of the
    process. A run makes one call at a time, so there are never more threads than runs.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(function)
        except Exception as error:
            # asyncio cannot carry a StopIteration.
            settle(done.set_exception, Escaped("StopIteration") if isinstance(error, StopIteration) else error)
        except BaseException as error:
            settle(done.set_exception, Escaped(type(error).__name__))
        else:
            settle(done.set_result, result)

    def settle(verb: Callable[..., None], outcome: object) -> None:
        def set_now() -> None:
            if not done.done():
                verb(outcome)

        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(set_now)

    threading.Thread(target=work, name="majlis-tool", daemon=True).start()
    return await done
