"""Exhausting the server without a token, or with a member's: endless headers, half-open requests, streams, spaces, and
files that other users of the machine can read (G10)."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from majlis import http_protocol
from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.world import World, serve_world


@asynccontextmanager
async def connected(world: World) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
    where = urlsplit(world.base_url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def rest_of(reader: StreamReader) -> bytes:
    """Until the server closes the connection."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def test_g10_endless_headers_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """77 MiB of headers were accepted without a token."""
    # They are refused for their size.
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 3600)
    async with connected(world) as (reader, writer):
        writer.write(b"GET /api/health HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 2 * http_protocol.MAX_HEAD)
        assert (await rest_of(reader))[:12] in (b"HTTP/1.1 431", b"")
    many = {f"X-{n}": "x" * 1000 for n in range(80)}
    assert_error(await world.owner.http.get("/api/health", headers=many), 431, "head_too_large")
    assert (await world.owner.http.get("/api/health", headers={"X": "x" * 30_000})).is_success


@pytest.mark.parametrize(
    "part",
    [
        b"",
        b"GET /api/health HTTP/1.1\r\nHost:",
        b"POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
        b"POST /api/session HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
)
async def test_g10_a_request_that_never_arrives_is_ended(
    world: World, monkeypatch: pytest.MonkeyPatch, part: bytes
) -> None:
    """450 half-open requests were held for as long as their sender liked."""
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.05)
    monkeypatch.setattr(http_protocol, "BODY_SECONDS", 0.05)
    async with connected(world) as (reader, writer):
        writer.write(part)
        assert await rest_of(reader) == b""


async def test_g10_half_open_requests_do_not_keep_others_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "MAX_ARRIVING_FROM_ONE_ADDRESS", 3)
    begun = [await asyncio.open_connection(*world.base_url.removeprefix("http://").split(":")) for _ in range(6)]
    for _, writer in begun:
        writer.write(b"GET /api/health HTTP/1.1\r\n")
    for reader, _ in begun[:3]:
        assert await rest_of(reader) == b""
    assert (await world.owner.get("/api/health")).is_success
    for _, writer in begun:
        writer.close()


async def test_g10_streams_and_spaces_are_capped_per_member(settings: Settings) -> None:
    """One token held 1,485 streams."""
    limits = {"max_streams_per_member": 2, "max_spaces_per_member": 3}
    async with serve_world(settings.model_copy(update=limits)) as world:
        sara = await world.person("Sara")
        second = await world.with_token(sara.id, "Sara")
        space = await sara.create_space("One")
        async with sara.follow() as first, sara.follow(space) as other:
            await first.next()
            await other.next()
            for path in ("/api/events", f"/api/spaces/{space}/events"):
                assert_error(await second.get(path), 429, "too_many_streams")
            async with world.owner.follow() as stream:
                await stream.next()
        await sara.create_space("Two")
        await sara.create_space("Three")
        assert_error(await sara.post("/api/spaces", {"name": "Four"}), 403, "too_many_spaces")
        for n in range(4):
            await world.owner.create_space(f"Owner's {n}")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_g10_a_start_makes_the_data_directory_private(settings: Settings, tmp_path: Path) -> None:
    """The directory had mode 755 and the database 644."""
    folder = tmp_path / "data"
    own = settings.model_copy(update={"data_dir": folder, "database_url": ""})
    async with serve_world(own):
        assert modes(folder) == {"data": 0o700, "majlis.db": 0o600, "server.key": 0o600}
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    async with serve_world(own):
        assert modes(folder) == {"data": 0o700, "majlis.db": 0o600, "server.key": 0o600}


def modes(folder: Path) -> dict[str, int]:
    files = [path for path in (folder, *folder.iterdir()) if not path.name.endswith(("-wal", "-shm"))]
    assert not [path for path in folder.iterdir() if path.stat().st_mode & 0o077]
    return {path.name: path.stat().st_mode & 0o777 for path in files}
