"""Programs that only publishing needs, in an environment of their own: the docs site and the checks of deploy/.

`make docs` and `make deploy-check` call `python -m tools.publish docs|check`.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.pip_settings import for_uv
from tools.steps import ROOT, VENV, CommandError, run, step

LOCK = "tools/publish.lock"
PLACE = ROOT / ".venv-publish"
STAMP = PLACE / "publish.stamp"
SOURCE = ROOT / ".site-source"
# The name of a block that is generated. The site's Markdown takes a fence with it for text.
_BLOCK_NAME = re.compile(r"^( *```\w+) [\w-]+$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[([^]]+)\]\(\.\./[^)]+\)")


def main(command: str) -> int:
    try:
        prepare()
        match command:
            case "docs":
                return docs()
            case "check":
                return check()
            case _:
                raise CommandError(f"unknown command {command}; use docs or check")
    except (CommandError, OSError) as error:
        print(f"publish: {error}", file=sys.stderr)
        return 1


def prepare() -> None:
    wanted = hashlib.sha256((ROOT / LOCK).read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    with step("installing the programs for publishing", "check the network and pip's settings"):
        settings = for_uv(run([str(VENV / "bin/python"), "-m", "pip", "config", "list"]))
        uv = str(VENV / "bin/uv")
        run([uv, "venv", "--clear", "--python", str(VENV / "bin/python"), str(PLACE)])
        run([uv, "pip", "sync", "--require-hashes", "--python", str(PLACE / "bin/python"), LOCK], settings)
        STAMP.write_text(wanted)


def docs() -> int:
    """The site is written to site/. It has no pages for links to files outside docs/, so these become plain text."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    for page in SOURCE.glob("*.md"):
        text = _BLOCK_NAME.sub(r"\1", page.read_text("utf-8"))
        page.write_text(_OUTSIDE.sub(r"\1", text), "utf-8")
    return _call("zensical", "build", "--clean", "--strict")


def check() -> int:
    compose = [_call("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml")]
    manifests = sorted(
        set((ROOT / "deploy/kubernetes").glob("*.yaml")) - {ROOT / "deploy/kubernetes/kustomization.yaml"}
    )
    codes = [_call("hadolint", "Dockerfile"), *compose, _call("kubernetes-validate", "--strict", *_names(manifests))]
    return max(codes)


def _names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def _call(program: str, *arguments: str) -> int:
    return subprocess.run([PLACE / "bin" / program, *arguments], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
