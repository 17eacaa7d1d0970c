"""The built wheel alone, in an environment of its own: it has everything that a gateway needs."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import httpx
import pytest

from hatch_build import WebApp
from majlis import __version__
from tests.conditions import until
from tests.docs.codes import ROOT
from tools import sbom

BARE = {"PATH": os.defpath, "PYTHONUNBUFFERED": "1"}
TOKEN = "owner-token-for-tests-only-0123456789"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("packages")
    build = "from hatchling.build import build_sdist, build_wheel; import sys; "
    _run(sys.executable, "-c", build + "build_sdist(sys.argv[1])", str(folder), cwd=ROOT)
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        opened.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    _run(sys.executable, "-c", build + "build_wheel(sys.argv[1])", str(folder), cwd=unpacked)
    return folder


@pytest.fixture(scope="module")
def installed(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs. Dependencies come from this environment, Majlis does not: its own `.pth` is not read
    there."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    [wheel] = packages.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(site)
        entry = opened.read(next(name for name in opened.namelist() if name.endswith("entry_points.txt"))).decode()
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    module, function = re.findall(r"majlis = ([\w.]+):(\w+)", entry)[0]
    program = folder / "bin" / "majlis"
    program.write_text(f"#!{folder}/bin/python\nfrom {module} import {function}\n{function}()\n")
    program.chmod(0o755)
    return folder / "bin"


def test_the_wheel_answers_a_message_with_its_web_app_and_backs_itself_up(installed: Path, tmp_path: Path) -> None:
    majlis = str(installed / "majlis")
    environment = {**BARE, "HOME": str(tmp_path), "MAJLIS_OWNER_TOKEN": TOKEN}
    found = "import majlis; print(majlis.__file__); print(majlis.__version__)"
    where, version = _run(str(installed / "python"), "-c", found, cwd=tmp_path).splitlines()
    assert (Path(where).is_relative_to(installed.parent), version) == (True, __version__)
    serving = subprocess.Popen(
        [majlis, "serve", "--port", "0"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        url = serving.stdout.readline().removeprefix("Majlis is running at ").strip()
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
            assert http.get("/api/health").json()["version"] == __version__
            page = http.get("/", headers={"Accept": "text/html"}).text
            [script] = re.findall(r'src="(/assets/[^"]+\.js)"', page)
            assert http.get(script).headers["content-type"].startswith("text/javascript")
            [lobby] = http.get("/api/spaces").json()
            http.post(f"/api/spaces/{lobby['id']}/messages", json={"text": "help"}).raise_for_status()
            _wait_for_answer(http, lobby["id"])
        _run(majlis, "backup", "-o", "all.tar", cwd=tmp_path)
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate()
    assert serving.returncode == 0
    _run(majlis, "restore", "all.tar", "--data-dir", "restored", cwd=tmp_path)
    with sqlite3.connect(tmp_path / "restored" / "majlis.db") as database:
        texts = [text for (text,) in database.execute("SELECT text FROM messages")]
    database.close()
    assert "help" in texts


def _wait_for_answer(http: httpx.Client, space: str) -> None:
    def answers() -> list[str]:
        page = http.get(f"/api/spaces/{space}/messages", params={"limit": 50}).json()["messages"]
        asked = next(n for n, message in enumerate(page) if message["text"] == "help")
        return [message["text"] for message in page[asked + 1 :] if message["sender"]["type"] == "agent"]

    asyncio.run(until(answers))


def test_a_package_without_the_web_app_or_with_an_old_one_is_not_built(tmp_path: Path) -> None:
    def hook(root: Path) -> WebApp:
        return WebApp(str(root), {}, None, None, str(root), "wheel")  # type: ignore[arg-type]

    with pytest.raises(SystemExit, match=r"The web app is not built.*make setup"):
        hook(tmp_path).initialize("standard", {})
    hook(tmp_path).initialize("editable", {})
    (tmp_path / "src/majlis/web_dist").mkdir(parents=True)
    (tmp_path / "src/majlis/web_dist/index.html").touch()
    # A source distribution, which has no sources of the app.
    hook(tmp_path).initialize("standard", {})
    (tmp_path / "web").mkdir()
    (tmp_path / "tools").mkdir()
    stale = "def is_built() -> bool: return False"
    hooked = f"WebApp({str(tmp_path)!r}, {{}}, None, None, '', 'wheel').initialize('standard', {{}})"
    code = f"from hatch_build import WebApp; {hooked}"
    (tmp_path / "tools" / "__init__.py").touch()
    (tmp_path / "tools" / "web.py").write_text(stale)
    (tmp_path / "hatch_build.py").write_text((ROOT / "hatch_build.py").read_text())
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "older than its sources" in ran.stderr


def test_two_builds_are_equal_byte_by_byte(packages: Path, tmp_path: Path) -> None:
    [sdist, wheel] = [next(packages.glob(kind)) for kind in ("*.tar.gz", "*.whl")]
    build = "from hatchling.build import build_sdist, build_wheel; import sys; "
    _run(sys.executable, "-c", f"{build}build_sdist(sys.argv[1]); build_wheel(sys.argv[1])", str(tmp_path), cwd=ROOT)
    for earlier in (sdist, wheel):
        assert (tmp_path / earlier.name).read_bytes() == earlier.read_bytes()


def test_the_version_is_the_same_everywhere() -> None:
    sdk = json.loads((ROOT / "web/sdk/package.json").read_text())
    app = json.loads((ROOT / "web/app/package.json").read_text())
    assert sdk["version"] == app["dependencies"]["@majlis/client"] == __version__


def test_the_bill_of_materials_lists_what_is_pinned_and_is_the_same_each_time() -> None:
    document = sbom.document(__version__, 1)
    assert document == sbom.document(__version__, 1)
    components = {each["name"]: each for each in json.loads(document)["components"]}
    assert {"sqlalchemy", "fastapi", "react"} <= set(components)
    assert not {"pytest", "hatchling", "vitest"} & set(components)
    pins = re.findall(r"^([a-zA-Z0-9._-]+)==([^ ;\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert components["sqlalchemy"]["version"] == dict(pins)["sqlalchemy"]


def _run(*command: str, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, env=BARE, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
