"""Runs the conformance suite of the Model Context Protocol against a new gateway: `python -m tools.mcp_conformance`.

Installs the suite from npm into a temporary folder. The suite sends no tokens, so a proxy adds one.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from majlis.settings import Settings
from tests.conditions import until
from tests.ports import free_port
from tests.world import World, serve_world
from tools.web import node, npm

SUITE = "@modelcontextprotocol/conformance@0.1.16"
_SCENARIO = re.compile(r"^[✓✗] ([\w-]+): \d+ passed, (\d+) failed", re.MULTILINE)
_REASONS = {
    "tools-call-": "calls a tool of the suite's reference server",
    "resources-read-": "reads a resource of the suite's reference server",
    "resources-templates-read": "reads a resource of the suite's reference server",
    "resources-": "subscriptions of earlier protocols need a session; see docs/mcp.md",
    "prompts-": "no prompts are offered",
    "completion-": "no completion is offered",
    "logging-": "no logging to clients is offered",
    "elicitation-": "clients are not asked in return",
}


async def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install(folder)
        settings = Settings(database_url=f"sqlite:///{folder}/majlis.db", data_dir=folder, port=0)
        async with serve_world(settings) as world, proxy(world) as url:
            await world.owner.create_space("Kitchen")
            return await run(folder, url)


def install(folder: Path) -> None:
    command = npm("install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", SUITE)
    command[command.index("--prefix") + 1] = str(folder)
    subprocess.run(command, check=True)


async def run(folder: Path, url: str) -> int:
    script = folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    path = {**os.environ, "PATH": f"{node().parent}:{os.environ.get('PATH', '')}"}
    command = [str(node()), str(script), "server", "--url", f"{url}/mcp"]
    suite = await asyncio.create_subprocess_exec(*command, cwd=folder, env=path, stdout=subprocess.PIPE)
    output, _ = await suite.communicate()
    found = _SCENARIO.findall(output.decode())
    unexplained = 0
    for scenario, failed in found:
        reason = next((reason for start, reason in _REASONS.items() if scenario.startswith(start)), "")
        passes = failed == "0"
        unexplained += not passes and not reason
        sys.stdout.write(f"{scenario}: {'passes' if passes else reason or 'FAILS'}\n")
    return 1 if unexplained or not found else 0


@asynccontextmanager
async def proxy(world: World) -> AsyncIterator[str]:
    port = free_port()
    async with httpx.AsyncClient(base_url=world.base_url, timeout=None) as http:

        async def forward(request: Request) -> Response:
            headers = {name: value for name, value in request.headers.items() if name != "content-length"}
            headers["authorization"] = f"Bearer {world.owner.token}"
            body = await request.body()
            made = http.build_request(request.method, request.url.path, headers=headers, content=body)
            answer = await http.send(made, stream=True)
            kept = {name: value for name, value in answer.headers.items() if name in ("content-type", "mcp-session-id")}
            return StreamingResponse(answer.aiter_raw(), answer.status_code, kept)

        app = Starlette(routes=[Route("/{path:path}", forward, methods=["GET", "POST", "DELETE", "OPTIONS"])])
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical"))
        serving = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        yield f"http://localhost:{port}"
        server.should_exit = True
        await serving


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
