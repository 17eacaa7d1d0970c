"""Runs a synchronous function in its own daemon thread.

asyncio's pool also serves the database: a tool that hangs would block one of its threads, and the exit of the process.
A run makes one call at a time, so there are never more threads than runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Escaped(Exception):
    """The function tried to exit the process, or raised an exception that asyncio cannot carry."""


async def in_thread(function: Callable[[], T]) -> T:
    """Cancellation returns at once; the function itself cannot be stopped, and its result is dropped."""
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
