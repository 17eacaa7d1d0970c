"""An MCP server of the protocol before 2026-07-28, over stdio and by hand: its tool `ask` waits until as many calls as
it was told are under way, and then asks people one question."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {"name": "ask", "inputSchema": {"type": "object", "properties": {"calls": {"type": "integer"}}}}
FIELDS = {
    "seat": {"type": "string", "enum": ["w", "a"], "enumNames": ["Window", "Aisle"]},
    "yes": {"type": "boolean", "title": "With breakfast", "default": True},
}
QUESTION = {"message": "Where do you want to sit?", "requestedSchema": {"type": "object", "properties": FIELDS}}


def main() -> None:
    pending: list[Any] = []
    for line in sys.stdin:
        got = json.loads(line)
        match got.get("method"):
            case None if got["id"] == "q":
                said = " ".join([got["result"]["action"], *map(str, got["result"].get("content", {}).values())])
                for id in pending:
                    say(id=id, result={"content": [{"type": "text", "text": said}]})
                pending.clear()
            case "initialize":
                version = "2025-06-18"
                server = {"name": "old", "version": "1"}
                say(
                    id=got["id"],
                    result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server},
                )
            case "tools/list":
                say(id=got["id"], result={"tools": [TOOL]})
            case "tools/call":
                pending.append(got["id"])
                if len(pending) == got["params"]["arguments"].get("calls", 1):
                    say(id="q", method="elicitation/create", params=QUESTION)
            case str() if "id" in got:
                say(id=got["id"], error={"code": -32601, "message": "no"})


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


main()
