"""A synchronous function in a thread of its own.

Not in asyncio's pool: its few threads serve the database, too, and a tool that hangs would hold one of them, and the
end of the process, for ever. A run works on one call at a time, so there are never more threads than runs.
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
    """The function tried to end the process, or threw what nobody can catch."""


async def in_thread(function: Callable[[], T]) -> T:
    """Who is canceled meanwhile goes on at once; the function itself cannot be stopped, and its result is dropped."""
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

        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(set_now)

    threading.Thread(target=work, name="majlis-tool", daemon=True).start()
    return await done
