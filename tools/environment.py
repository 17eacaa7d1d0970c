"""Installs what the lock files list into `.venv`. Does nothing if it is up to date."""

import argparse
import contextlib
import fcntl
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator

from tools import web
from tools.installers import install
from tools.steps import ROOT, VENV, CommandError, run, step

STAMP = VENV / "setup.json"
IN_USE = VENV / "setup.lock"
INPUTS = ("pyproject.toml", "requirements.lock", "requirements-dev.lock", "tools/requirements.lock")
Stamp = dict[str, str | bool]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="setup", description=__doc__)
    parser.add_argument("--dev", action="store_true", help="with what tests and checks need")
    dev = bool(parser.parse_args(arguments).dev)
    try:
        with one_at_a_time():
            prepare(dev)
            web.prepare(dev)
    except (CommandError, OSError) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted; the next `make setup` creates .venv again", file=sys.stderr)
        return 130
    return 0


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    VENV.mkdir(exist_ok=True)
    with IN_USE.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("setup: waiting for another setup of this checkout", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare(dev: bool) -> None:
    last = read_stamp()
    # A .venv for development stays one: `make run` after `make test` must not remove the tools.
    wanted = stamp(dev or last.get("dev") is True)
    if last == wanted and (VENV / "bin/majlis").exists():
        print("setup: .venv is up to date")
        return
    start = time.monotonic()
    # Without a stamp the next setup starts over, since an interrupted one may have left anything half written.
    STAMP.unlink(missing_ok=True)
    if last.get("home") != wanted["home"]:
        create()
    install("requirements-dev.lock" if wanted["dev"] else "requirements.lock")
    STAMP.write_text(json.dumps(wanted))
    print(f"setup: .venv is ready, {time.monotonic() - start:.1f} s in total")


def read_stamp() -> Stamp:
    try:
        found = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def stamp(dev: bool) -> Stamp:
    inputs = hashlib.sha256(b"".join(hashlib.sha256((ROOT / name).read_bytes()).digest() for name in INPUTS))
    # Scripts in .venv/bin contain the paths of the folder and of Python, so a copied .venv does not work.
    home = f"{ROOT} {sys.base_prefix} {sys.version.split()[0]}"
    return {"home": home, "inputs": inputs.hexdigest(), "dev": dev}


def create() -> None:
    with step("creating .venv", "install Python's venv module (on Debian and Ubuntu: python3-venv)"):
        empty()
        # Not sys.executable, which is in the .venv being replaced if that is activated.
        run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(VENV)])


def empty() -> None:
    for path in VENV.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != IN_USE:  # other processes wait for this file
            path.unlink()
