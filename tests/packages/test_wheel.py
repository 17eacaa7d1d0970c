"""The built wheel alone, in an environment of its own: it has everything that a gateway needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from asyncio import create_subprocess_exec
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from hatch_build import WebApp
from majlis import __version__
from tests.docs.codes import ROOT
from tests.docs.test_commands import PATIENCE_SECONDS, blocks
from tests.model_server import Asked, ModelServer, Reply, say, silent
from tests.ports import free_port
from tools import image, publish, sbom

BARE = {"PATH": os.defpath, "PYTHONUNBUFFERED": "1"}


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


@dataclass
class Machine:
    """A folder on a machine that has only the wheel. Commands are those of the docs."""

    programs: Path
    folder: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        found = {"PATH": f"{self.programs}:{os.defpath}", "HOME": str(self.folder), "MAJLIS_PORT": str(self.port)}
        return BARE | found

    async def run(self, script: str, **more: str) -> str:
        command = await create_subprocess_exec(
            "bash", "-e", "-c", script, cwd=self.folder, env=self.environment | more, stdin=DEVNULL, stdout=PIPE,
            stderr=STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                out, _ = await command.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(command.pid, signal.SIGKILL)
            await command.wait()
        assert command.returncode == 0, f"{script}\n{out.decode()}"
        return out.decode()

    @asynccontextmanager
    async def serving(self, command: str) -> AsyncIterator[None]:
        """A server, which ends when it is asked to."""
        process = await create_subprocess_exec(
            *command.split(), cwd=self.folder, env=self.environment, stdin=DEVNULL, stdout=PIPE
        )
        assert process.stdout is not None
        try:
            assert (await process.stdout.readline()).startswith(b"Majlis is running at ")
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            await process.stdout.read()
            assert await process.wait() == 0


async def test_a_new_machine_gets_from_the_wheel_to_an_upgrade_by_the_docs_own_words(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    here = Machine(installed, tmp_path / "new", free_port())
    found = "import majlis; print(majlis.__file__, majlis.__version__)"
    where, version = (await here.run(f"python -c '{found}'")).split()
    assert (Path(where).is_relative_to(installed.parent), version) == (True, __version__)

    [start] = blocks("docs/tutorial-first-agent.md", "text")
    [connect] = [line for line in blocks("docs/models.md", "bash")[0].splitlines() if "--base-url" in line]
    async with ModelServer(_cook) as model, here.serving(start.removeprefix("uvx ")):
        address = connect.replace("http://192.168.1.5:11434/v1", model.base_url).replace("qwen3:8b", "scripted")
        assert "Connected" in await here.run(address)
        printed = await here.run("\n".join(blocks("docs/tutorial-first-agent.md", "sh")), MODEL="scripted")
        assert "Soup on Monday." in await here.run("majlis chat Kitchen")
        await _sara_signs_in(printed, "Soup on Monday.")
        await here.run("\n".join(blocks("docs/backup.md", "sh")))
    async with here.serving("majlis serve --data-dir restored"):
        assert "Soup on Monday." in await here.run("majlis chat Kitchen --data-dir restored")


async def test_the_data_of_an_earlier_wheel_is_upgraded_by_the_docs_own_words(installed: Path, tmp_path: Path) -> None:
    """previous.tar.xz is what the first version left: its database, at revision 0007, and its key."""
    with tarfile.open(Path(__file__).parent / "previous.tar.xz") as opened:
        opened.extractall(tmp_path, filter="data")
    here = Machine(installed, tmp_path, free_port())
    checked = await here.run("\n".join(blocks("docs/upgrade.md", "sh")))
    assert "the database is at 0007." in checked
    assert (tmp_path / "before-upgrade.tar").is_file()
    # Back to before the upgrade.
    await here.run("majlis restore before-upgrade.tar --data-dir restored")
    async with here.serving("majlis serve"):
        assert "We met on Monday" in await here.run("majlis chat Lobby")
        await here.run("majlis send Lobby 'Nadim, what do you remember?'")
        await here.run("until majlis chat Lobby | grep --quiet 'I remember:'; do sleep 0.2; done")
        assert "- the door code is on the fridge" in await here.run("majlis chat Lobby")
    assert "No migrations are pending." in await here.run("majlis upgrade --check")


def _cook(asked: Asked) -> Reply:
    return silent() if asked.step else say("Soup on Monday.")


async def _web_app_works(http: httpx.AsyncClient) -> None:
    assert (await http.get("/api/health")).json()["version"] == __version__
    page = (await http.get("/", headers={"Accept": "text/html"})).text
    [script] = re.findall(r'src="(/assets/[^"]+\.js)"', page)
    assert (await http.get(script)).headers["content-type"].startswith("text/javascript")


async def _sara_signs_in(printed: str, said: str) -> None:
    """With the link that was printed, she reads what was said."""
    [link] = re.findall(r"http://\S+/sign-in/\S+", printed)
    browser = {"Sec-Fetch-Site": "same-origin"}
    async with httpx.AsyncClient(base_url=link.partition("/sign-in/")[0], headers=browser, timeout=60) as http:
        assert (await http.post(link)).status_code == 303
        await _web_app_works(http)
        assert (await http.get("/api/me")).json()["name"] == "Sara"
        [kitchen] = (await http.get("/api/spaces")).json()
        assert said in (await http.get(f"/api/spaces/{kitchen['id']}/messages")).text


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
    react = json.loads((ROOT / "web/react/package.json").read_text())
    assert sdk["version"] == app["dependencies"]["@majlis/client"] == __version__
    assert react["version"] == react["dependencies"]["@majlis/client"] == __version__


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


def test_the_image_s_files_are_packed_as_the_same_bytes_each_time(tmp_path: Path) -> None:
    image.write(tmp_path / "one.tar.gz", 1_580_601_600)
    image.write(tmp_path / "two.tar.gz", 1_580_601_600)
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "one.tar.gz") as opened:
        packed = set(opened.getnames())
    needed = {"Dockerfile", "requirements.lock", "src/majlis/__init__.py", "tools/setup.py", "web/package-lock.json"}
    assert needed <= packed
    parts = {part for name in packed for part in name.split("/")}
    assert not parts & {"node_modules", "web_dist", "__pycache__", "majlis-data", ".git", ".venv"}


def test_the_docs_site_keeps_its_versions_and_starts_with_the_newest(tmp_path: Path) -> None:
    for name in ("0.9", "0.10", "0.9"):
        (tmp_path / "built").mkdir()
        (tmp_path / "built/index.html").write_text(name)
        publish.place_version(tmp_path / "built", tmp_path / "site", name)
    listed = json.loads((tmp_path / "site/versions.json").read_text())
    assert [(each["version"], each["aliases"]) for each in listed] == [("0.10", ["latest"]), ("0.9", [])]
    assert 'url=0.10/"' in (tmp_path / "site/index.html").read_text()
    assert __version__.startswith(publish.version())
