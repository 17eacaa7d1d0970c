"""A peer in a process of its own that stays: told how many to do, it does them and says what each took. So it can take
turns with us."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers.environment import Unavailable, peers_python

_SCRIPTS = Path(__file__).parent
# Nothing that either of them would send home, and no key that they would look for.
_QUIET = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OPENAI_API_KEY": "",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
}


class Peer:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def times(self, count: int) -> list[float]:
        """A `Sampler`."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        return [float(seconds) for seconds in self.heard()]

    def heard(self) -> list[float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Unavailable("the peer has ended before its time: see its words above")
        found: list[float] = json.loads(line)
        return found


@contextmanager
def open_peer(script: str, *arguments: str) -> Iterator[Peer]:
    """Raises Unavailable when it cannot be installed or does not start."""
    command = [str(peers_python()), str(_SCRIPTS / script), *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | _QUIET, text=True
    )
    try:
        peer = Peer(process)
        peer.heard()  # an empty list: ready
        yield peer
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
