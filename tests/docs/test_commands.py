"""The pages for operators and the tutorials: every block that is marked `sh` runs unchanged, settings are valid, and
what they name exists."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from majlis import metrics
from majlis.settings import Settings
from tests.docs.codes import ROOT
from tests.ports import free_port
from tests.world import World

DOCS = ROOT / "docs"
PAGES = (
    "backup.md",
    "deploy.md",
    "monitor.md",
    "tutorial-approvals.md",
    "tutorial-first-agent.md",
    "tutorial-outside-agent.md",
    "upgrade.md",
)
PATIENCE_SECONDS = 240


def blocks(page: str, kind: str) -> list[str]:
    found = re.findall(rf"^( *)```{kind}\n(.*?)^ *```", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [dedent(block) for _, block in found]


async def run_page(page: str, folder: Path, **environment: str) -> None:
    """In one shell, with `majlis` and `python` of this environment. Everything that it starts ends with it."""
    programs = folder / "bin"
    programs.mkdir()
    for name, command in (("majlis", f'"{sys.executable}" -m majlis'), ("python", f'"{sys.executable}"')):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    given = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")} | environment
    script = "\n".join(blocks(page, "sh"))
    assert script
    run = await asyncio.create_subprocess_exec(
        "bash", "-e", "-c", script,
        cwd=folder, env=given, stdin=asyncio.subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await run.wait() == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        await run.wait()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("page", PAGES)
async def test_the_commands_of_a_page_run(page: str, world: World, settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    # `--data-dir restored` selects a new gateway only if no database is named.
    (folder / "majlis.toml").write_text(f'data_dir = "{settings.data_dir}"\n')
    (settings.data_dir / "majlis.db").symlink_to(settings.database_url.removeprefix("sqlite:///"))
    await run_page(page, folder, MAJLIS_URL=world.base_url, MAJLIS_PORT=world.base_url.rpartition(":")[2])


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_the_commands_of_three_nodes_run(database_url: str, bus_url: str, tmp_path: Path) -> None:
    await run_page(
        "tutorial-three-nodes.md",
        tmp_path,
        MAJLIS_DATABASE_URL=database_url,
        MAJLIS_BUS_URL=bus_url,
        MAJLIS_SECRET_KEY="a secret key for this test, 0123456789",
        MAJLIS_OWNER_TOKEN="owner-token-for-tests-only-0123456789",
        PORT_A=str(free_port()),
        PORT_B=str(free_port()),
    )


def test_blocks_of_settings_and_rules_are_valid() -> None:
    found = 0
    for page in sorted(path.name for path in DOCS.glob("*.md")):
        for block in blocks(page, "toml") if page in (*PAGES, "retention.md") else ():
            Settings.model_validate(tomllib.loads(block) | ({"oidc_client_id": "x"} if "oidc" in block else {}))
            found += 1
        for block in blocks(page, "yaml") if page in PAGES else ():
            assert yaml.safe_load(block)
            found += 1
    assert found >= 4


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
