"""`majlis serve` as a background process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx


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
            process.send_signal(signal.SIGHUP)
            async with httpx.AsyncClient(base_url=line.split()[-1]) as http:
                assert (await http.get("/api/health")).status_code == 200
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
