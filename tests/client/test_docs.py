"""The examples of docs/python-client.md run unchanged."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from majlis.client import MajlisClient, SyncMajlisClient
from majlis.client.wire import call
from tests.world import World

PAGE = (Path(__file__).parents[2] / "docs" / "python-client.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_every_example_runs(world: World) -> None:
    environment = {**os.environ, "MAJLIS_URL": world.base_url, "MAJLIS_TOKEN": world.owner.token}
    printed = ""
    for example in EXAMPLES:
        run = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", example, env=environment, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await run.communicate()
        assert run.returncode == 0, example
        printed += out.decode()
    assert printed.splitlines() == [
        "1 Owner",
        "['Welcome!'] False",
        "name_taken {'path': 'name'} The name \"SARA\" is taken (ignoring case and width), or looks like one that is. "
        "Choose another.",
        "404 not_found",
        "False",
        "True",
        "hello 0",
    ]


def test_every_method_is_listed() -> None:
    for client in (MajlisClient, SyncMajlisClient):
        methods = {name for base in client.__mro__ for name, found in vars(base).items() if isinstance(found, call)}
        assert methods
        assert {name for name in methods if f"`{name}`" not in PAGE} == set()
