"""Every block of the docs that is marked `sh` runs unchanged, but for ids and the port.

`test_blocks.py` checks those that cannot run in a test, which are marked `bash`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import tomllib
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from majlis import metrics
from majlis.settings import Settings
from tests.cli.processes import Commands
from tests.conditions import until
from tests.docs.codes import ROOT
from tests.docs.reference import pages
from tests.docs.shell import programs, real_programs
from tests.ports import free_port
from tests.world import World

DOCS = ROOT / "docs"
DEMO_AGENTS = {"Nadim", "Rawi"}
PATIENCE_SECONDS = 240


@dataclass(frozen=True)
class Page:
    """A page, and what it expects to be there: agents and people in a space, and files."""

    path: str
    space: str = ""
    agents: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


PAGES = (
    Page("README.md"),
    Page("examples/README.md"),
    Page("docs/agents.md"),
    Page("docs/api.md"),
    Page("docs/backup.md"),
    Page("docs/cli.md"),
    Page("docs/costs.md", "Research", ("Scout",)),
    Page("docs/deploy.md"),
    Page("docs/guarantees.md"),
    Page("docs/mcp.md", people=("Sara",)),
    Page("docs/monitor.md"),
    Page("docs/oidc.md"),
    Page("docs/openai.md", "Research", ("Helper",), ("Sara",)),
    Page("docs/tutorial-approvals.md"),
    Page("docs/tutorial-first-agent.md"),
    Page("docs/tutorial-outside-agent.md"),
    Page("docs/upgrade.md"),
    Page("docs/webhooks.md", "Releases", files=("secret.txt",)),
)
ELSEWHERE = {"docs/tutorial-three-nodes.md"}


def blocks(page: str, kind: str) -> list[str]:
    found = re.findall(rf"^( *)```{kind}\n(.*?)^ *```", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [dedent(block) for _, block in found]


async def run_page(page: str, folder: Path, known: dict[str, str], **environment: str) -> None:
    """In one shell. Everything that it starts ends with it."""
    script = "\n".join(blocks(page, "sh"))
    assert script
    for placeholder, value in known.items():
        script = script.replace(placeholder, value)
    given = os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment
    run = await asyncio.create_subprocess_exec(
        "bash", "-e", "-c", script,
        cwd=folder, env=given, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, _ = await run.communicate()
        assert run.returncode == 0, f"{page}: {out.decode()[-3000:]}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        await run.wait()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_commands_of_the_pages_run(
    world: World, settings: Settings, tmp_path: Path, commands: Commands
) -> None:
    """On one server with a Lobby, like every new one. After each page, what it made is removed."""
    await world.gateway.create_lobby()
    [lobby] = [space["id"] for space in await world.owner.ok("GET", "/api/spaces")]
    # `--data-dir restored` selects a new gateway only if no database is named.
    (settings.data_dir / "majlis.db").symlink_to(settings.database_url.removeprefix("sqlite:///"))
    await until(partial(_runs, world))
    port = world.base_url.rpartition(":")[2]
    async with programs(tmp_path / "bin", commands) as path:
        for n, page in enumerate(PAGES):
            folder = tmp_path / f"page{n}"
            folder.mkdir()
            (folder / "majlis.toml").write_text(f'data_dir = "{settings.data_dir}"\n')
            space = await _set_up(world, page, folder)
            known = {"localhost:8700": f"localhost:{port}", "spc_…": space, " ID": f" {(await _runs(world))[0]['id']}"}
            own = {"PATH": path, "MAJLIS_URL": world.base_url, "MAJLIS_PORT": port, "TOKEN": world.owner.token}
            await run_page(page.path, folder, known, **own)
            await _tidy(world, lobby)


def test_every_page_with_commands_is_run() -> None:
    pages = [path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *DOCS.glob("*.md"), ROOT / "examples/README.md")]
    assert {str(page) for page in pages if blocks(str(page), "sh")} == {page.path for page in PAGES} | ELSEWHERE


async def _runs(world: World) -> list[Any]:
    return list((await world.owner.ok("GET", "/api/runs"))["runs"])


async def _set_up(world: World, page: Page, folder: Path) -> str:
    for file in page.files:
        (folder / file).write_text("a secret of the test\n")
    members = [*[await world.agent(name) for name in page.agents], *[await world.person(name) for name in page.people]]
    return await world.owner.create_space(page.space, *members) if page.space else "spc_none"


async def _tidy(world: World, lobby: str) -> None:
    owner = world.owner
    for space in await owner.ok("GET", "/api/spaces"):
        if space["id"] != lobby:
            await owner.ok("DELETE", f"/api/spaces/{space['id']}")
    for each in await owner.ok("GET", "/api/entities"):
        if each["type"] == "agent" and each["name"] not in DEMO_AGENTS:
            await owner.ok("DELETE", f"/api/agents/{each['id']}")
        elif each["type"] == "human" and each["id"] != owner.id:
            await owner.ok("DELETE", f"/api/entities/{each['id']}")


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_the_commands_of_three_nodes_run(database_url: str, bus_url: str, tmp_path: Path) -> None:
    await run_page(
        "docs/tutorial-three-nodes.md",
        tmp_path,
        {},
        # Its processes are killed, so they are not forks.
        PATH=real_programs(tmp_path / "bin"),
        MAJLIS_DATABASE_URL=database_url,
        MAJLIS_BUS_URL=bus_url,
        MAJLIS_SECRET_KEY="a secret key for this test, 0123456789",
        MAJLIS_OWNER_TOKEN="owner-token-for-tests-only-0123456789",
        PORT_A=str(free_port()),
        PORT_B=str(free_port()),
    )


@pytest.mark.parametrize("page", ["reference-cli.md", "reference-api.md"])
def test_the_reference_is_what_the_code_says(page: str) -> None:
    assert (DOCS / page).read_text("utf-8") == pages()[page], "python -m tests.docs.reference writes it anew"


def test_every_metric_that_the_page_names_exists() -> None:
    known = set(re.findall(r"^# TYPE (\w+)", metrics.render().decode(), re.MULTILINE))
    named = set(re.findall(r"\bmajlis_[a-z_]+", (DOCS / "monitor.md").read_text("utf-8")))
    assert named
    assert named <= known


def test_the_site_has_every_page_once() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    listed: list[str] = []
    for entry in site["nav"]:
        for name, target in entry.items():
            assert name
            listed += [target] if isinstance(target, str) else [page for each in target for page in each.values()]
    assert sorted(listed) == sorted(path.name for path in DOCS.glob("*.md"))
