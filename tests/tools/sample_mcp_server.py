"""A real MCP server, from the `mcp` package: `python -m tests.tools.sample_mcp_server stdio` or `http PORT`."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tests", log_level="CRITICAL")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def who() -> dict[str, Any]:
    """The process id and the environment."""
    return {"pid": os.getpid(), "env": dict(os.environ)}


@server.tool(structured_output=False)
def say(text: str) -> str:
    return text


@server.tool(structured_output=False)
def huge(megabytes: int) -> str:
    return "x" * (megabytes * 1_000_000)


@server.tool()
def picture() -> Image:
    return Image(data=b"\x89PNG" * 3, format="png")


@server.tool()
def fail() -> str:
    raise ToolError("no such order")


@server.tool()
async def hang() -> str:
    await anyio.sleep_forever()
    return ""


@server.tool()
def die() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@server.tool()
async def work(ctx: Context[Any, Any]) -> str:
    await ctx.report_progress(1, 2, "half done")
    return "done"


@server.tool(name="odd.name/with spaces")
def odd() -> str:
    return "odd"


@server.tool()
def large() -> dict[str, Any]:
    """A number too large for most JSON parsers, next to a secret."""
    return {"number": 10**30, "key": os.environ.get("KEY")}


def serve_http(port: int) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    # From here on every connection gets a response, at once or a moment later.
    print("listening", flush=True)  # noqa: T201
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(host="127.0.0.1"), log_level="critical")).run([listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        serve_http(int(sys.argv[2]))
