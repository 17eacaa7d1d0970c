"""Two ways to install exactly what a lock file names: uv, which is quick, and pip, which every Python has."""

import os

from tools.pip_settings import for_uv
from tools.steps import VENV, CommandError, run, step

PYTHON = str(VENV / "bin/python")
NETWORK = "look at the network and at pip's settings"


def install(lock: str) -> None:
    installer = uv if install_with_uv(lock) else pip
    if installer is pip:
        with step(f"installing {lock} with pip", NETWORK):
            pip("install", "--require-hashes", "--requirement", lock)
    with step("installing majlis", "look at pyproject.toml"):
        # Its build backend is in the lock too, so nothing that is not pinned gets fetched.
        installer("install", "--no-deps", "--no-build-isolation", "--editable", ".")


def install_with_uv(lock: str) -> bool:
    if os.environ.get("MAJLIS_SETUP_WITHOUT_UV"):
        return False
    try:
        with step("getting uv", NETWORK):
            pip("install", "--require-hashes", "--requirement", "tools/requirements.lock")
        with step(f"installing {lock}", NETWORK):
            # Compiled once here, rather than by every process that starts where bytecode may not be written.
            uv("sync", "--require-hashes", "--compile-bytecode", lock)
    except CommandError as error:
        print(f"setup: going on with pip, as uv did not do it: {error.__cause__}", flush=True)
        return False
    return True


def pip(*arguments: str) -> None:
    # PIP_USER: a machine-wide `user = true` would make pip refuse to install into a .venv.
    run([PYTHON, "-m", "pip", *arguments], os.environ | {"PIP_USER": "0"})


def uv(command: str, *arguments: str) -> None:
    settings = for_uv(run([PYTHON, "-m", "pip", "config", "list"]))
    run([str(VENV / "bin/uv"), "pip", command, "--python", PYTHON, *arguments], settings | os.environ)
