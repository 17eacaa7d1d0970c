"""Makes `.venv-peers` what `requirements.txt` beside this file says, on first use, as `make setup` makes `.venv`.

`requirements.txt` is made of `requirements.in`, with hashes and without addresses:
`.venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
--no-annotate --output-file bench/peers/requirements.txt bench/peers/requirements.in`
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from tools.pip_settings import for_uv
from tools.steps import ROOT, VENV, last_word

HOME = ROOT / ".venv-peers"
PYTHON = HOME / "bin/python"
_LOCK = Path(__file__).with_name("requirements.txt")
_STAMP = HOME / "installed"


class Unavailable(Exception):
    """The peers cannot be installed here. The text says why."""


@cache
def peers_python() -> Path:
    """The interpreter of the peers, with everything that they need."""
    wanted = hashlib.sha256(_LOCK.read_bytes() + sys.version.encode()).hexdigest()
    if not (_STAMP.is_file() and _STAMP.read_text() == wanted):
        _STAMP.unlink(missing_ok=True)
        print("bench: installing the peers into .venv-peers", file=sys.stderr)
        _run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(HOME)])
        _install()
        _STAMP.write_text(wanted)
    return PYTHON


def _install() -> None:
    uv = VENV / "bin/uv"
    settings = for_uv(_run([str(VENV / "bin/python"), "-m", "pip", "config", "list"])) | os.environ
    if uv.exists():
        _run([str(uv), "pip", "sync", "--python", str(PYTHON), "--require-hashes", str(_LOCK)], settings)
    else:
        pip = [str(VENV / "bin/python"), "-m", "pip", "--python", str(PYTHON)]
        _run([*pip, "install", "--require-hashes", "--requirement", str(_LOCK)], os.environ | {"PIP_USER": "0"})


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise Unavailable(f"the peers cannot be installed: {last_word(done.stdout)}")
    return done.stdout
