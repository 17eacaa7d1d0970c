"""A connection to an MCP server. It lives in its own task, because anyio scopes must be closed in the task that opened
them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import structlog
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT, CallToolResult, Implementation, Tool

from majlis import __version__
from majlis.errors import MajlisError, Unavailable
from majlis.tools.mcp.endpoint import Route
from majlis.tools.mcp.servers import NotCalled
from majlis.tools.mcp.transports import transport
from majlis.tools.reach.reach import Reach

MAX_TOOLS = 256
_PAGES = 20
# Longer than the grace time of a program that ignores SIGTERM.
_CLOSE_SECONDS = 10.0
# After these errors a connection is unusable.
_FINAL = (CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT)
_logger = structlog.get_logger(__name__)


class Connection:
    """`seconds` limit opening it and listing the tools."""

    def __init__(self, route: Route, reach: Reach, seconds: float) -> None:
        self._route = route
        self._reach = reach
        self._seconds = seconds
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._calls = 0
        # A retired connection takes no new calls, and closes after the last one.
        self.retired = False
        self.task = asyncio.create_task(self._live(), name="mcp")

    async def ready(self) -> None:
        """Raises Unavailable. A canceled caller does not cancel the opening for others."""
        try:
            async with asyncio.timeout(self._seconds):
                await asyncio.shield(self._client)
        except TimeoutError:
            # Closing a server that hangs takes seconds; do not wait for it.
            self.retire()
            raise self._too_slow() from None

    @property
    def idle(self) -> bool:
        return self._calls == 0

    async def tools(self) -> list[Tool]:
        client = await asyncio.shield(self._client)
        found: list[Tool] = []
        cursor: str | None = None
        with self._judged():
            async with asyncio.timeout(self._seconds):
                for _ in range(_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    found += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
        return found[:MAX_TOOLS]

    async def call(
        self, name: str, input: dict[str, Any], seconds: float, tell: Callable[[str], None]
    ) -> CallToolResult:
        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            if message:
                tell(message)

        client = await asyncio.shield(self._client)
        with self._judged():
            async with asyncio.timeout(seconds):
                return await client.call_tool(name, input, progress_callback=progressed)

    def retire(self) -> None:
        self.retired = True
        if self.idle:
            self._over.set()

    async def close(self) -> None:
        self.retired = True
        self._over.set()
        if not self._client.done():
            self.task.cancel()
        _, late = await asyncio.wait([self.task], timeout=_CLOSE_SECONDS)
        if late:
            self.task.cancel()
            await asyncio.wait([self.task])

    @contextlib.contextmanager
    def _judged(self) -> Any:
        """Counts the call, and retires the connection if its error makes it unusable."""
        self._calls += 1
        try:
            yield
        except MCPError as error:
            self.retired = self.retired or error.code in _FINAL
            kind = NotCalled if error.code == INVALID_REQUEST else Unavailable
            raise kind("mcp_error", error.message[:1000]) from error
        except MajlisError:
            raise
        except TimeoutError:
            self.retired = True
            raise Unavailable("timeout", "the server did not respond in time") from None
        except Exception as error:
            self.retired = True
            raise Unavailable("mcp_broken", why(error)) from error
        finally:
            self._calls -= 1
            if self.retired:
                self.retire()

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._seconds):
                    streams = transport(self._route, self._reach, self.retire)
                    client = await stack.enter_async_context(Client(streams, cache=None, client_info=_WE))
                    # The library would run the patterns of the server's output schema with `re` (G1).
                    client.session.validate_tool_result = _accept  # type: ignore[method-assign]
                self._client.set_result(client)
                await self._over.wait()
        except (Exception, asyncio.CancelledError) as error:
            self.retired = True
            if not self._client.done():
                slow = isinstance(error, TimeoutError)
                self._client.set_exception(self._too_slow() if slow else Unavailable("mcp_unreachable", why(error)))
                self._client.exception()  # avoids the warning if no caller waits for it
            else:
                _logger.info("MCP connection closed with an error", reason=why(error))

    def _too_slow(self) -> Unavailable:
        return Unavailable("mcp_unreachable", f"the server did not respond within {self._seconds:g} seconds")


async def _accept(name: str, result: CallToolResult) -> None:
    """We rely on no output schema: the model reads whatever the server says."""


_WE = Implementation(name="majlis", version=__version__)


def why(error: BaseException) -> str:
    """The first exception of a possible group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    words = next(iter(str(error).splitlines()), "")[:500]
    return f"{words} ({type(error).__name__})" if words else type(error).__name__
