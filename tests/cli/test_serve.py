"""`majlis serve` as a background process."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import httpx

from tests.cli.command import Command
from tests.cli.terminals import in_terminal


async def test_a_server_started_with_nohup_survives_the_terminal_and_ends_with_sigterm(tmp_path: Path) -> None:
    command = f"trap '' HUP INT; exec '{sys.executable}' -m majlis serve --port 0 --data-dir data"
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", command,
        cwd=tmp_path, env=os.environ | {"PYTHONUNBUFFERED": "1", "MAJLIS_DEMO": "false"},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            line = (await process.stdout.readline()).decode()
            # G10: a link in a log would let its readers sign in as the owner.
            assert b"majlis sign-in-link" in await process.stdout.readline()
            process.send_signal(signal.SIGHUP)
            async with httpx.AsyncClient(base_url=line.split()[-1]) as http:
                assert (await http.get("/api/health")).status_code == 200
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_g10_a_terminal_shows_a_sign_in_link_that_works(bare: Command) -> None:
    async with in_terminal(bare.given(MAJLIS_DEMO="false", MAJLIS_LOG_LEVEL="error"), "serve") as terminal:
        shown = await terminal.until("Press Ctrl-C")
        [link] = re.findall(r"Sign in once with (\S+)", shown)
        other = (await bare.ok("sign-in-link")).out.strip()
        async with httpx.AsyncClient() as http:
            for url in (link, other):
                assert (await http.get(url)).status_code == 200
