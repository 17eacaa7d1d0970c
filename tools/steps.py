"""Prints the steps of a setup, and runs commands whose output goes to a log."""

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = VENV / "setup.log"


class CommandError(Exception):
    """A command failed. The message has the step, the command's last error, and what to do."""


@contextlib.contextmanager
def step(title: str, advice: str) -> Iterator[None]:
    print(f"setup: {title} ... ", end="", flush=True)
    start = time.monotonic()
    try:
        yield
    except CommandError as error:
        print("failed", flush=True)
        advice = f"{advice}, then run it again (details: {LOG.relative_to(ROOT)})"
        raise CommandError(f"{title} failed: {error}; {advice}") from error
    print(f"{time.monotonic() - start:.1f} s", flush=True)


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
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
    with LOG.open("a") as log:
        log.write(f"$ {' '.join(command)}\n{done.stdout}\n")
    if done.returncode:
        raise CommandError(last_word(done.stdout))
    return done.stdout


def last_word(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error: " in line.lower()]
    return (errors or lines or ["no output"])[-1]
