"""A restore changes nothing unless the whole backup is as it was written, and its place is empty."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from pydantic import SecretStr

from majlis.backup.archive import Writer
from majlis.settings import Settings
from majlis.store.migrations import REVISIONS
from tests.backup.test_backup import FILE, ONE_ENGINE
from tests.cli.command import Command
from tests.conditions import until
from tests.world import serve_world

OUTSIDE = Path("/tmp/majlis-outside")
MANIFEST = {
    "type": "majlis-backup",
    "version": 1,
    "majlis": "0.1.0",
    "schema": REVISIONS[-1],
    "engine": "sqlite",
    "database": True,
    "keyMark": None,
    "madeAt": "2026-11-18T00:00:00.000Z",
}
NAME = f"files/ab/{'ab' * 32}-0000000000000000"


@pytest.fixture
async def archive(source: Command, settings: Settings) -> Path:
    async with serve_world(settings) as world:
        space = await world.owner.create_space()
        await world.owner.say(space, "kept", files=[(await world.owner.upload(space, FILE))["id"]])
    await source.ok("backup", "-o", "all.tar")
    return source._folder / "all.tar"


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


async def test_a_place_that_is_not_empty_is_refused_and_stays_as_it_is(
    archive: Path, restoring: Command, target: Settings, source: Command
) -> None:
    target.data_dir.mkdir()
    (target.data_dir / "notes.txt").write_text("mine")
    assert "is not empty" in await restoring.line("restore", "all.tar", code=2)
    assert everything(target.data_dir) == ["notes.txt"]
    # The gateway's own place neither.
    elsewhere = source.given(MAJLIS_DATA_DIR=str(target.data_dir.parent / "other"))
    line = await elsewhere.line("restore", "all.tar", code=2)
    assert "exists already" in line or "is not empty" in line


@ONE_ENGINE
async def test_a_restore_is_refused_with_the_wrong_key(archive: Path, restoring: Command, target: Settings) -> None:
    line = await restoring.given(MAJLIS_SECRET_KEY="x" * 40).line("restore", "all.tar", code=2)
    assert "Correct or unset MAJLIS_SECRET_KEY" in line
    assert not target.data_dir.exists()
    await restoring.ok("restore", "all.tar")


async def test_a_key_from_the_environment_is_not_in_the_backup_and_needed_again(
    source: Command, restoring: Command, settings: Settings, target: Settings
) -> None:
    key = "k" * 40
    async with serve_world(settings.model_copy(update={"secret_key": SecretStr(key)})):
        pass
    given = source.given(MAJLIS_SECRET_KEY=key)
    assert "Keep MAJLIS_SECRET_KEY with it." in (await given.ok("backup", "-o", "all.tar")).err
    assert key.encode() not in (source._folder / "all.tar").read_bytes()
    assert "has no server key" in await restoring.line("restore", "all.tar", code=2)
    assert not target.data_dir.exists()
    ran = await restoring.given(MAJLIS_SECRET_KEY=key).ok("restore", "all.tar")
    assert "with these variables set: MAJLIS_DATABASE_URL, MAJLIS_DATA_DIR, MAJLIS_SECRET_KEY." in ran.err


async def test_a_killed_restore_can_be_repeated(archive: Path, restoring: Command, target: Settings) -> None:
    process = await restoring.start("restore", "all.tar")
    await until(lambda: process.returncode is not None or target.data_dir.exists())
    process.send_signal(signal.SIGKILL)
    await process.communicate()
    if process.returncode:
        found = [name for name in everything(target.data_dir) if not name.startswith((".restore-", "files"))]
        assert found in ([], ["server.key"])
    if not (target.data_dir / "server.key").exists():
        await restoring.ok("restore", "all.tar")


@ONE_ENGINE
async def test_a_single_changed_or_missing_byte_is_noticed(archive: Path, restoring: Command, target: Settings) -> None:
    content = await asyncio.to_thread(archive.read_bytes)
    middle = content.index(FILE[:64]) + 10_000
    for damaged in (content[:middle] + b"\xff" + content[middle + 1 :], content[:middle], content[:100], b""):
        await asyncio.to_thread(archive.write_bytes, damaged)
        assert "is not a complete Majlis backup" in await restoring.line("restore", "all.tar", code=2)
        assert not target.data_dir.exists()


def packed(*members: tuple[str, bytes], manifest: dict[str, object] | None = None) -> bytes:
    out = io.BytesIO()
    writer = Writer(out.write)
    writer.add("manifest.json", orjson.dumps(manifest or MANIFEST))
    for name, content in members:
        writer.add(name, content)
    writer.finish()
    return out.getvalue()


def special(kind: bytes, name: str, link: str = "") -> bytes:
    """An archive whose second member is something else than a file, with a correct checksum."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    plain = packed()
    at = plain.index(b"complete")
    start = plain[:at] + info.tobuf(tarfile.GNU_FORMAT)
    end = io.BytesIO()
    Writer(end.write).add("complete", hashlib.sha256(start).hexdigest().encode())
    return start + end.getvalue()


def compressed(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as opened:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(content)
        opened.addfile(info, io.BytesIO(content))
    return out.getvalue()


def claiming(size: int) -> bytes:
    """A header that promises more than the file has."""
    info = tarfile.TarInfo("manifest.json")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "a path up": lambda: packed(("../outside", b"x")),
    "an absolute path": lambda: packed((str(OUTSIDE), b"x")),
    "a path up among files": lambda: packed(("files/../../outside", b"x")),
    "a hidden path up": lambda: packed((f"files/ab/../../{'ab' * 32}-0", b"x")),
    "an unknown name": lambda: packed(("majlis.db", b"x")),
    "the same file twice": lambda: packed((NAME, b"x"), (NAME, b"y")),
    "a symbolic link": lambda: special(tarfile.SYMTYPE, "server.key", "/etc/passwd"),
    "a hard link": lambda: special(tarfile.LNKTYPE, "server.key", "manifest.json"),
    "a folder": lambda: special(tarfile.DIRTYPE, "files"),
    "a device": lambda: special(tarfile.CHRTYPE, "database"),
    "a sparse file": lambda: special(tarfile.GNUTYPE_SPARSE, "database"),
    "a long name": lambda: special(tarfile.GNUTYPE_LONGNAME, "x"),
    "an extended header": lambda: special(tarfile.XHDTYPE, "x"),
    "a compressed bomb": lambda: compressed(bytes(10_000_000)),
    "a huge manifest": lambda: claiming(10**12),
    "a negative size": lambda: claiming(-1),
    "a huge key": lambda: packed(("server.key", bytes(2 * 1024 * 1024))),
    "not a database": lambda: packed(("database", b"x" * 8192)),
    "no database": lambda: packed((NAME, b"x")),
    "no manifest": lambda: packed(manifest={"type": "something"}),
    "an incomplete manifest": lambda: packed(manifest={**MANIFEST, "engine": "other"}),
    "a manifest with a wrong key mark": lambda: packed(manifest={**MANIFEST, "keyMark": 5}),
    "a newer version": lambda: packed(manifest={**MANIFEST, "schema": "9999"}),
    "another engine": lambda: packed(("database", b"x"), manifest={**MANIFEST, "engine": "postgresql"}),
    "an odd version": lambda: packed(manifest={**MANIFEST, "version": [], "schema": {}}),
}


@ONE_ENGINE
@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_archive_changes_nothing(
    kind: str, restoring: Command, target: Settings, tmp_path: Path
) -> None:
    file = restoring._folder / "hostile.tar"
    file.write_bytes(HOSTILE[kind]())
    before = everything(tmp_path)
    line = await restoring.line("restore", "hostile.tar", code=2)
    assert "Nothing was restored" in line or "Upgrade Majlis" in line
    assert everything(tmp_path) == before
    assert not await asyncio.to_thread(OUTSIDE.exists)


@ONE_ENGINE
async def test_a_file_larger_than_the_disk_is_refused_before_it_is_read(restoring: Command, target: Settings) -> None:
    """A sparse file takes no space itself."""
    with (restoring._folder / "sparse.tar").open("wb") as file:
        os.truncate(file.fileno(), 2**43)
    assert "MB are free in" in await restoring.line("restore", "sparse.tar", code=2)
    assert not target.data_dir.exists()
