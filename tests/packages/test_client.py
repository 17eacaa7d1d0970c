"""`majlis-client` alone, in an environment with only its own dependencies: the same programs run with it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

from majlis import __version__
from tests.world import World
from tools.client import stage

PROGRAM = """
import asyncio, os, sys
import majlis
from majlis.client import ClientState, MajlisClient, SyncMajlisClient
from majlis.client.shapes import MessageJson, SpaceJson
from majlis.errors import NotFound

async def main() -> None:
    url, token = os.environ["MAJLIS_URL"], os.environ["MAJLIS_TOKEN"]
    async with MajlisClient(url, token) as client:
        space: SpaceJson = await client.create_space("Reading group")
        message: MessageJson = await client.post(space["id"], "Welcome!")
        async for event in client.follow(space["id"]):
            if event.type == "connected":
                await client.post(space["id"], "Hello again!")
            elif event.type == "space.message":
                print(event.data["message"]["text"])
                break
        try:
            await client.get_space("spc_0000000000000000")
        except NotFound as error:
            print(error.status)
    with SyncMajlisClient(url, token) as client:
        print([said["text"] for said in client.list_messages(space["id"])["messages"]])

asyncio.run(main())
print(majlis.__version__, majlis.__file__)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"pydantic", "sqlalchemy", "fastapi"}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client")
    stage(folder)
    build = "from hatchling.build import build_wheel; build_wheel('.')"
    subprocess.run([sys.executable, "-c", build], cwd=folder, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its environment has only the requirements of the wheel, and theirs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(site)
        metadata = opened.read(f"majlis_client-{__version__}.dist-info/METADATA").decode()
    required = [_name(line) for line in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE)]
    assert required == ["httpx", "typing-extensions"]
    for each in _with_requirements(required):
        for file in {Path(str(path)).parts[0] for path in each.files or ()}:
            source = Path(str(each.locate_file(file)))
            if source.exists() and file != ".." and not (site / file).exists():
                (site / file).symlink_to(source)
    return folder / "bin" / "python"


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _with_requirements(names: list[str]) -> list[Distribution]:
    found: dict[str, Distribution] = {}
    while names:
        name = names.pop()
        if name not in found:
            found[name] = distribution(name)
            needed = [each for each in found[name].requires or () if "extra ==" not in each]
            names += [_name(each) for each in needed if not re.search(r"python_version\s*<", each)]
    return list(found.values())


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_client_alone_runs_a_program_against_a_server(world: World, python: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.defpath, "MAJLIS_URL": world.base_url, "MAJLIS_TOKEN": world.owner.token}
    program = await asyncio.create_subprocess_exec(
        str(python), "-c", PROGRAM,
        cwd=tmp_path, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await program.communicate()
    assert program.returncode == 0, err.decode()
    first, status, texts, installed, loaded = out.decode().splitlines()
    assert first == "Hello again!"
    assert status == "404"
    assert texts == "['Welcome!', 'Hello again!']"
    version, where = installed.split()
    assert version == __version__
    assert Path(where).is_relative_to(python.parent.parent)
    assert loaded == "[]"


def test_the_client_alone_has_the_same_types_as_the_server(python: Path) -> None:
    from majlis.client import shapes

    ours = {name for name in vars(shapes) if not name.startswith("_")}
    listed = "import majlis.client.shapes as shapes; print(*[name for name in vars(shapes) if name[0] != '_'])"
    ran = subprocess.run([str(python), "-c", listed], capture_output=True, text=True, check=True)
    assert ours - {"TypedDict", "Any", "Literal", "annotations"} <= set(ran.stdout.split())
