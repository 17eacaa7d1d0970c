"""A peer in a long-lived process. It is told how much work to do, and reports how long each part took, so it can take
turns with Majlis. Between its turns it is stopped, so that its polls do not slow down the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bench.peers.environment import Unavailable, peers_python
from tools.steps import ROOT

# Nothing that any of them would send home, and no key that they would look for.
_QUIET = {
    "DBOS_CONDUCTOR_KEY": "",
    "GOOGLE_API_KEY": "",
    "GOOGLE_CLOUD_AGENT_ENGINE_ENABLE_TELEMETRY": "",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OPENAI_API_KEY": "",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "OTEL_SDK_DISABLED": "true",
}
_PATIENCE_SECONDS = 600
_ENDED = "the peer has ended before its time: see its words above"


class Peer:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def times(self, count: int) -> list[float]:
        """A `Sampler`."""
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(f"{count}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Unavailable(_ENDED) from None
        return [float(seconds) for seconds in self.heard()]

    def heard(self) -> list[float]:
        assert self._process.stdout is not None
        timer = threading.Timer(_PATIENCE_SECONDS, self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if not line:
            raise Unavailable(_ENDED)
        self._process.send_signal(signal.SIGSTOP)
        found: list[float] = json.loads(line)
        return found


@contextmanager
def open_peer(name: str, *arguments: str) -> Iterator[Peer]:
    """`name` is a script of this folder. Raises Unavailable when it cannot be installed or does not start."""
    command = [str(peers_python()), "-m", f"bench.peers.{name}", *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | _QUIET, text=True
    )
    try:
        peer = Peer(process)
        peer.heard()  # an empty list: ready
        yield peer
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.terminate()
        process.send_signal(signal.SIGCONT)
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
