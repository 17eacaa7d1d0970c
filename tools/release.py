"""`make release`: writes to dist/ what is published. Two builds of the same commit give the same bytes."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools import client, image, sbom, web
from tools.steps import ROOT, VENV, CommandError, run, step

DIST = ROOT / "dist"
SDK = ROOT / "web/sdk"
REACT = ROOT / "web/react"
CHECK = "see the message above"


def main() -> int:
    try:
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        environment = os.environ | {"SOURCE_DATE_EPOCH": epoch()}
        with step("building the wheel and the source distribution", CHECK):
            build(ROOT, environment)
        with step("building majlis-client", CHECK), TemporaryDirectory() as folder:
            client.stage(Path(folder))
            build(Path(folder), environment)
        with step("packing the TypeScript client", CHECK):
            pack(SDK, environment)
        with step("packing the React component", CHECK):
            pack(REACT, environment)
        version = next(DIST.glob("majlis-*.whl")).name.split("-")[1]
        require_same_version(version)
        with step("packing what the image is built from", CHECK):
            image.write(DIST / f"majlis-{version}-image.tar.gz", int(epoch()))
        with step("listing the contents (SBOM)", CHECK):
            (DIST / f"majlis-{version}.cdx.json").write_text(sbom.document(version, int(epoch())))
        sums()
    except (CommandError, OSError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print((DIST / "SHA256SUMS").read_text(), end="")
    return 0


def build(folder: Path, environment: dict[str, str]) -> None:
    # The build backend is in the lock, so nothing unpinned takes part.
    options = ["--no-build-isolation", "--python", str(VENV / "bin/python"), "--out-dir", str(DIST)]
    run([str(VENV / "bin/uv"), "build", *options, str(folder)], environment)


def epoch() -> str:
    """The time of the commit. Outside a repository, a fixed one."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    found = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() or "1580601600"


def pack(package: Path, environment: dict[str, str]) -> None:
    shutil.rmtree(package / "dist", ignore_errors=True)
    # Its script, which builds it, calls `node`.
    path = f"{web.node().parent}{os.pathsep}{environment.get('PATH', '')}"
    npm = web.node().parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    command = [str(web.node()), str(npm), "pack", "--silent", str(package), "--pack-destination", str(DIST)]
    run(command, environment | {"PATH": path})


def require_same_version(version: str) -> None:
    for package in (SDK, REACT):
        found = json.loads((package / "package.json").read_text())["version"]
        if found != version:
            where = package.relative_to(ROOT) / "package.json"
            raise CommandError(f"majlis has the version {version}, {where} {found}; make them equal")


def sums() -> None:
    files = sorted(path for path in DIST.iterdir() if path.is_file() and not path.name.startswith("."))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (DIST / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())
