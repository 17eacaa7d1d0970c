"""Decodes files in processes of their own (see `job`): one for each file, started when it is needed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from majlis.errors import Invalid

SECONDS = 30.0
_MAX_ANSWER = 16 * 1024 * 1024
_AT_ONCE = 2
_PACKAGES = str(Path(__file__).resolve().parents[2])
_CODE = f"import sys; sys.path.insert(0, {_PACKAGES!r}); from majlis.files.job import main; main()"
# For finding shared libraries. Secrets of the server stay out.
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")


class Decoder:
    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def run(self, job: str, content: AsyncIterator[bytes], **options: Any) -> tuple[dict[str, Any], bytes]:
        """Returns the facts and the content that the job found. Raises Invalid with a reason that completes "… cannot
        be read: "."""
        async with self._slots:
            environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-c", _CODE, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
            )
            assert process.stdin is not None
            assert process.stdout is not None
            header = json.dumps({"job": job, **options}).encode() + b"\n"
            try:
                async with asyncio.timeout(self._seconds):
                    feeding = asyncio.create_task(_feed(process.stdin, header, content))
                    try:
                        answer = await _read(process.stdout)
                    finally:
                        feeding.cancel()
                        with suppress(asyncio.CancelledError):
                            await feeding
            except TimeoutError:
                raise _unreadable("it takes too long") from None
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        process.kill()
                await process.wait()
        return _parse(answer)


async def _feed(stdin: asyncio.StreamWriter, header: bytes, content: AsyncIterator[bytes]) -> None:
    # The job may end before it has read everything.
    try:
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(header)
            async for piece in content:
                stdin.write(piece)
                await stdin.drain()
    finally:
        stdin.close()


async def _read(stdout: asyncio.StreamReader) -> bytes:
    answer = bytearray()
    while piece := await stdout.read(1024 * 1024):
        answer += piece
        if len(answer) > _MAX_ANSWER:
            raise _unreadable("its content is too large")
    return bytes(answer)


def _parse(answer: bytes) -> tuple[dict[str, Any], bytes]:
    head, newline, content = answer.partition(b"\n")
    if not newline:
        # Killed by one of its limits.
        raise _unreadable("it needs too much time or memory")
    found = json.loads(head)
    if "error" in found:
        raise _unreadable(found["error"])
    return found, content


def _unreadable(reason: str) -> Invalid:
    return Invalid("unreadable_file", reason)
