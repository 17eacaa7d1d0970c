"""Programs that only publishing needs, in an environment of their own: the docs site and the checks of deploy/.

`make docs` and `make deploy-check` call `python -m tools.publish docs|check`.
"""

import hashlib
import json
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
BUILT = ROOT / ".site-built"
SITE = ROOT / "site"
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
    """Each version has a folder in site/, which keeps those of other versions. There are no pages for links to files
    outside docs/, so these become plain text."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    for page in SOURCE.glob("*.md"):
        text = _BLOCK_NAME.sub(r"\1", page.read_text("utf-8"))
        page.write_text(_OUTSIDE.sub(r"\1", text), "utf-8")
    code = _call("zensical", "build", "--clean", "--strict")
    if code == 0:
        place_version(BUILT, SITE, version())
    return code


def version() -> str:
    """Without a patch number: patches change no page."""
    [found] = re.findall(
        r'^__version__ = "(\d+\.\d+)', (ROOT / "src/majlis/__init__.py").read_text("utf-8"), re.MULTILINE
    )
    return str(found)


def place_version(built: Path, site: Path, name: str) -> None:
    """The pages have a menu of what versions.json lists, and the site starts with the newest."""
    shutil.rmtree(site / name, ignore_errors=True)
    site.mkdir(exist_ok=True)
    built.rename(site / name)
    names = sorted((path.parent.name for path in site.glob("*/index.html")), key=_numbers, reverse=True)
    listed = [{"version": each, "title": each, "aliases": ["latest"] if each == names[0] else []} for each in names]
    (site / "versions.json").write_text(json.dumps(listed))
    start = f'<!doctype html><meta http-equiv="refresh" content="0; url={names[0]}/"><a href="{names[0]}/">Majlis</a>\n'
    (site / "index.html").write_text(start)


def _numbers(name: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", name)]


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
