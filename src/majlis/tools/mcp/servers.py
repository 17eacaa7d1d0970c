"""All MCP servers of this process: opened when first needed, shared by configs that name the same server, reopened
after a failure, closed when idle."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog

from majlis.agents.config.mcp import McpServer
from majlis.errors import Forbidden, MajlisError, Unavailable
from majlis.lazy_import import import_alone
from majlis.runs.calls.elicit import Elicitation
from majlis.tools.mcp.endpoint import find_route
from majlis.tools.mcp.offer import Kind, Listed, Offered, offer
from majlis.tools.mcp.ongoing import People, Tell
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets

if TYPE_CHECKING:
    from mcp.types import CallToolResult

    from majlis.tools.mcp.connection import Connection
    from majlis.tools.mcp.oauth import BearerAuth, SignedIn

CONNECT_SECONDS = 15.0
CALL_SECONDS = 60
IDLE_SECONDS = 300.0
# How much longer a connection is kept after its server has asked people something.
KEEP_SECONDS = 3600.0
FORGET_SECONDS = 8 * 3600.0
# How long a list of tools and a failure are cached, so that not every run waits for a dead server.
LIST_SECONDS = 60.0
RETRY_SECONDS = 10.0
# A server that hangs costs a run the whole timeout, so the next attempt comes after this many times the time it took.
RETRY_TIMES = 4
SIGN_IN_NEEDED = "sign_in_needed"
_logger = structlog.get_logger(__name__)


class NotCalled(MajlisError):
    """The server did not accept the connection: the call was not made and may be made over a new one."""


@dataclass(slots=True)
class _Server:
    connection: Connection | None = None
    listed: Listed = field(default_factory=Listed)
    # Its tools by the name and the allowed tools of a config; cached for each list of tools.
    offered: dict[tuple[str, tuple[str, ...] | None], dict[str, Offered]] = field(default_factory=dict)
    listed_until: float = 0.0
    failure: str = ""
    retry_at: float = 0.0
    used_at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_open(self) -> bool:
        """True if it is connected and has a recent list of tools."""
        return self.connection is not None and not self.connection.retired and time.monotonic() < self.listed_until


class Servers:
    def __init__(self, reach: Reach, secrets: Secrets, commands: frozenset[str]) -> None:
        self._reach = reach
        self._secrets = secrets
        self._commands = commands
        self._servers: dict[str, _Server] = {}
        self._connections: set[Connection] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._loaded = False
        self._sign_ins: dict[tuple[str, str], SignedIn] = {}

    async def open(self, config: McpServer) -> str | None:
        """Returns the problem, or None if its tools can be called."""
        server = self._server(config)
        # Concurrent runs share one opening.
        async with server.lock:
            if server.is_open:
                return None
            began = time.monotonic()
            if server.failure and began < server.retry_at:
                return server.failure
            try:
                server.listed = await (await self._connected(config, server)).listed()
            except MajlisError as error:
                server.failure = self._secrets.mask(self._explained(config, error).message)
                now = time.monotonic()
                # An admin who has just signed in does not wait.
                rest = max(RETRY_SECONDS, (now - began) * RETRY_TIMES) if error.code != SIGN_IN_NEEDED else 0.0
                server.retry_at = now + rest
                _logger.warning("MCP server cannot be used", server=config.name, reason=server.failure)
                return server.failure
            server.offered, server.failure, server.listed_until = {}, "", time.monotonic() + LIST_SECONDS
            return None

    def works(self, config: McpServer) -> bool:
        """True if the server worked when it was last opened."""
        server = self._servers.get(_key(config))
        return server is not None and not server.failure

    def offered(self, config: McpServer) -> dict[str, Offered]:
        """The tools by their names for models, as last listed, even if the server has failed since: a run that saw a
        tool is told why it cannot be called."""
        server = self._servers.get(_key(config))
        if server is None:
            return {}
        view = config.name, config.allowed_tools
        if view not in server.offered:
            server.offered[view] = offer(config, server.listed)
        return server.offered[view]

    async def call(
        self,
        config: McpServer,
        kind: Kind,
        tool: str,
        input: dict[str, Any],
        tell: Tell,
        people: People,
        earlier: Elicitation | None = None,
    ) -> CallToolResult | Elicitation:
        server = self._server(config)
        seconds = config.timeout_seconds or CALL_SECONDS
        result: CallToolResult | Elicitation | None = None
        try:
            try:
                result = await (await self._connected(config, server)).call(
                    kind, tool, input, seconds, tell, people, earlier
                )
            except NotCalled:
                result = await (await self._connected(config, server)).call(
                    kind, tool, input, seconds, tell, people, earlier
                )
        except MajlisError as error:
            raise self._explained(config, error) from None
        finally:
            server.used_at = time.monotonic()
        if isinstance(result, Elicitation):
            # Many servers understand their own request state only until they are restarted.
            server.used_at += KEEP_SECONDS
        return result

    def close_idle(self, seconds: float) -> None:
        """Its list of tools is kept much longer: a run may still call one, which reopens the server."""
        now = time.monotonic()
        for key, server in list(self._servers.items()):
            connection = server.connection
            if connection is not None and connection.idle and now - server.used_at >= seconds:
                connection.retire()
            if now - server.used_at >= FORGET_SECONDS:
                del self._servers[key]

    async def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._servers = {}
        await asyncio.gather(*(connection.close() for connection in tuple(self._connections)))

    def _server(self, config: McpServer) -> _Server:
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._close_idle_forever(), name="mcp-idle")
        server = self._servers.setdefault(_key(config), _Server())
        server.used_at = time.monotonic()
        return server

    async def _connected(self, config: McpServer, server: _Server) -> Connection:
        route = await find_route(config, self._reach, self._secrets, self._commands)
        if not self._loaded:
            # Takes a second: in a thread, so that the event loop continues.
            await asyncio.to_thread(import_alone, "majlis.tools.mcp.connection")
            await asyncio.to_thread(import_alone, "majlis.tools.mcp.oauth")
            self._loaded = True
        auth = await self._signed_in(config.oauth, route.url) if config.oauth is not None else None
        if server.connection is None or server.connection.retired:
            from majlis.tools.mcp.connection import Connection

            made = server.connection = Connection(route, self._reach, CONNECT_SECONDS, auth)
            self._connections.add(made)
            made.task.add_done_callback(lambda _: self._connections.discard(made))
        connection = server.connection
        await connection.ready()
        return connection

    def _explained(self, config: McpServer, error: MajlisError) -> MajlisError:
        for (name, _), signed_in in self._sign_ins.items():
            if name == config.oauth and signed_in.complaint is not None:
                complaint, signed_in.complaint = signed_in.complaint, None
                return Unavailable("scopes_needed", complaint)
        return error

    async def _signed_in(self, name: str, url: str) -> BearerAuth:
        from majlis.tools.mcp.oauth import BearerAuth, SignedIn

        if self._secrets.store is None:
            raise Forbidden("unknown_secret", "sign-ins cannot be used here.")
        key = name, url
        if key not in self._sign_ins:
            self._sign_ins[key] = SignedIn(name, url, self._secrets.store, self._reach)
        await self._sign_ins[key].check()
        return BearerAuth(self._sign_ins[key])

    async def _close_idle_forever(self) -> None:
        while True:
            await asyncio.sleep(IDLE_SECONDS / 2)
            self.close_idle(IDLE_SECONDS)


def _key(config: McpServer) -> str:
    """Configs with the same URL, headers, command and variables share a server, whatever they call it."""
    return config.model_dump_json(include={"url", "headers", "command", "env", "transport", "oauth"})
