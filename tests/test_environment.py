"""The environment of the tests: processes that they start are the same under every runner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VARIABLES = {
    "COLUMNS": "40", "FORCE_COLOR": "1", "HTTP_PROXY": "http://127.0.0.1:9", "LANG": "tr_TR.UTF-8", "LC_ALL": "POSIX",
    "MAJLIS_PORT": "1", "OPENAI_API_KEY": "sk-real", "PGHOST": "127.0.0.1", "PYTHONWARNINGS": "always", "TERM": "dumb",
    "TZ": "Asia/Kathmandu", "XDG_CONFIG_HOME": "/nowhere",
}  # fmt: skip
SHOW = """
import json, os, signal, time
shown = {"environment": dict(os.environ), "umask": os.umask(0), "zone": time.strftime("%Z")}
signals = signal.SIGINT, signal.SIGTERM, signal.SIGCHLD
shown["ignored"] = [each.name for each in signals if signal.getsignal(each) is signal.SIG_IGN]
shown["blocked"] = [each.name for each in signal.pthread_sigmask(signal.SIG_BLOCK, ())]
print(json.dumps(shown))
"""
ISOLATE = f"""
import subprocess, sys
from tests.environment import isolate
isolate()
subprocess.run([sys.executable, "-c", {SHOW!r}], check=True)
"""
# As a runner may start a process.
SPOIL = f"""
import os, signal, sys
os.umask(0o077)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.execv(sys.executable, [sys.executable, "-c", {ISOLATE!r}])
"""


def run(program: str, **environment: str) -> Any:
    command, environment = [sys.executable, "-c", program], {"PATH": os.environ["PATH"], **environment}
    return json.loads(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True).stdout)


def test_a_process_that_a_test_starts_knows_nothing_of_the_runner() -> None:
    plain = run(ISOLATE)
    assert run(SPOIL, **VARIABLES) == plain
    assert (plain["umask"], plain["zone"], plain["ignored"], plain["blocked"]) == (0o022, "UTC", [], [])
    assert plain["environment"].keys() == {"HOME", "LC_ALL", "PATH", "TERM", "TZ"}
