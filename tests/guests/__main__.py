"""`make guests`: every door with programs that are not part of Majlis. It installs them, so it is not part of
`make test`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.guests.install import install

_HERE = Path(__file__).parent
# Not named as tests, so that `make test` leaves them out.
_FILES = ("langgraph_graph", "coding_agent", "chats", "notifier", "mcp_clients", "mcp_servers")


def main(arguments: list[str]) -> int:
    install()
    return pytest.main([*(str(_HERE / f"{name}.py") for name in _FILES), *arguments])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
