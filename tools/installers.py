"""Two ways to install exactly the versions of a lock file: uv, which is fast, and pip, which comes with Python."""

import os

from tools.pip_settings import for_uv
from tools.steps import VENV, CommandError, run, step

PYTHON = str(VENV / "bin/python")
NETWORK = "check the network and pip's settings"


def install(lock: str) -> None:
    installer = uv if install_with_uv(lock) else pip
    if installer is pip:
        with step(f"installing {lock} with pip", NETWORK):
            pip("install", "--require-hashes", "--requirement", lock)
    with step("installing majlis", "check pyproject.toml"):
        # The build backend is in the lock too, so only pinned packages are downloaded.
        installer("install", "--no-deps", "--no-build-isolation", "--editable", ".")


def install_with_uv(lock: str) -> bool:
    if os.environ.get("MAJLIS_SETUP_WITHOUT_UV"):
        return False
    try:
        with step("getting uv", NETWORK):
            pip("install", "--require-hashes", "--requirement", "tools/requirements.lock")
        with step(f"installing {lock}", NETWORK):
            # Compiled once here, for machines where processes cannot write bytecode.
            uv("sync", "--require-hashes", "--compile-bytecode", lock)
    except CommandError as error:
        print(f"setup: uv failed, using pip instead: {error.__cause__}", flush=True)
        return False
    return True


def pip(*arguments: str) -> None:
    # PIP_USER: a machine-wide `user = true` would make pip refuse to install into a .venv.
    run([PYTHON, "-m", "pip", *arguments], os.environ | {"PIP_USER": "0"})


def uv(command: str, *arguments: str) -> None:
    settings = for_uv(run([PYTHON, "-m", "pip", "config", "list"]))
    run([str(VENV / "bin/uv"), "pip", command, "--python", PYTHON, *arguments], settings | os.environ)
