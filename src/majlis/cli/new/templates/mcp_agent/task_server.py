"""A small MCP server: a list of tasks in a file. Any other server, in any language, is used in the same way."""

from __future__ import annotations

import json
import os
from pathlib import Path

from mcp.server.mcpserver import MCPServer

FILE = Path(os.environ["TASKS_FILE"])
server = MCPServer("tasks", log_level="CRITICAL")


@server.tool()
def list_tasks() -> list[str]:
    """All tasks that are open."""
    return list(json.loads(FILE.read_text())) if FILE.exists() else []


@server.tool()
def add_task(text: str) -> list[str]:
    """Adds a task; returns all that are open."""
    return _keep([*list_tasks(), text])


@server.tool()
def finish_task(text: str) -> list[str]:
    """Takes a task off the list; returns all that are open."""
    return _keep([task for task in list_tasks() if task != text])


@server.tool()
def delete_all_tasks() -> list[str]:
    """Forgets everything."""
    return _keep([])


def _keep(tasks: list[str]) -> list[str]:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(tasks))
    return tasks


if __name__ == "__main__":
    server.run("stdio")
