"""A gateway is backed up while people post, and restored elsewhere."""

from __future__ import annotations

import asyncio
import stat
import tarfile
from itertools import count
from pathlib import Path

import pytest

from majlis import clock
from majlis.backup.status import LAST_BACKUP
from majlis.settings import Settings
from majlis.store.tables import gateway as facts
from tests.acceptance.processes import ServerProcess
from tests.cli.command import Command
from tests.cli.processes import Commands
from tests.conditions import until
from tests.world import World, serve_world

ONE_ENGINE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
FILE = b"\x00 what was uploaded " * 5000


async def test_a_backup_under_load_restores_every_message_acknowledged_before_it(
    source: Command, restoring: Command, settings: Settings, target: Settings, commands: Commands, bus_url: str
) -> None:
    server = await ServerProcess(commands, settings.database_url, made(settings.data_dir), bus_url).start()
    owner = await server.owner()
    spaces = [await owner.create_space(f"Space {n}") for n in range(2)]
    await owner.say(spaces[0], "with a file", files=[(await owner.upload(spaces[0], FILE))["id"]])
    acknowledged: dict[str, list[str]] = {space: [] for space in spaces}
    stop = asyncio.Event()

    async def post(space: str) -> None:
        for n in count():
            if stop.is_set():
                return
            acknowledged[space].append((await owner.say(space, f"message {n}"))["id"])

    posting = [asyncio.create_task(post(space)) for space in spaces]
    await until(lambda: all(len(found) > 5 for found in acknowledged.values()))
    before = {space: list(found) for space, found in acknowledged.items()}
    ran = await source.ok("backup", "-o", "all.tar", "--json")
    assert (ran.json["files"], ran.json["missing"]) == (1, [])
    # They went on meanwhile.
    assert all(len(acknowledged[space]) > len(before[space]) for space in spaces)
    stop.set()
    await asyncio.gather(*posting)
    await owner.http.aclose()
    await server.stop()

    await restoring.ok("restore", "all.tar")
    restored = await ServerProcess(commands, target.database_url, target.data_dir, bus_url).start()
    owner = await restored.owner()
    for space in spaces:
        page = await owner.history(space, limit=200)
        messages = list(page["messages"])
        while page["hasMore"]:
            page = await owner.history(space, limit=200, before=page["messages"][0]["id"])
            messages = [*page["messages"], *messages]
        assert [message["seq"] for message in messages] == list(range(1, len(messages) + 1))
        assert set(before[space]) <= {message["id"] for message in messages}
    [message] = (await owner.history(spaces[0], limit=1))["messages"]
    first = (await owner.ok("GET", "/api/search", q="with a file"))["messages"][0]
    assert (await owner.get(f"/api/files/{first['files'][0]['id']}")).content == FILE
    # The restored gateway goes on where the backup ended.
    assert (await owner.say(spaces[0], "back again"))["seq"] == message["seq"] + 1
    await owner.http.aclose()
    await restored.stop()


async def test_a_backup_is_one_private_file_and_doctor_knows_when_it_was_made(
    source: Command, settings: Settings
) -> None:
    async with serve_world(settings) as world:
        await world.owner.create_space()
        assert "No backup was made" in (await source("doctor")).out
        folder = source._folder
        assert "Wrote majlis-backup-20" in (await source.ok("backup")).err
        [archive] = folder.iterdir()
        assert stat.S_IMODE(archive.stat().st_mode) == 0o600
        with tarfile.open(archive) as opened:
            assert opened.getnames() == ["manifest.json", "server.key", "database", "complete"]
        assert "(today)" in (await source("doctor")).out
        entries = (await world.owner.ok("GET", "/api/audit", action="backup"))["entries"]
        assert [entry["action"] for entry in entries] == ["backup.made"]

        aged = {"value": str(clock.now() - 10 * 24 * 3_600_000)}
        await world.gateway.db.write(lambda tx: tx.execute(facts.update().where(facts.c.key == LAST_BACKUP), aged))
        ran = await source("doctor", "--json")
        warned = [found["message"] for found in ran.json["findings"] if found["level"] == "warning"]
        assert any("(10 days ago)" in message for message in warned)


@ONE_ENGINE
async def test_a_killed_backup_leaves_no_file_of_its_name_and_no_copy_in_the_way(
    source: Command, restoring: Command, settings: Settings
) -> None:
    async with serve_world(settings) as world:
        space = await world.owner.create_space()
        for n in range(3):
            content = bytes([n]) * 4_000_000
            await world.owner.say(space, "big", files=[(await world.owner.upload(space, content))["id"]])
    folder = source._folder
    process = await source.start("backup", "-o", "all.tar")
    await until(lambda: (folder / "all.tar.part").exists())
    process.kill()
    await process.communicate()
    if not (folder / "all.tar").exists():
        assert (await restoring("restore", "all.tar")).code == 2
    await source.ok("backup", "-o", "all.tar")
    assert not (folder / "all.tar.part").exists()
    await restoring.ok("restore", "all.tar")


async def test_a_file_that_the_store_has_lost_is_named_and_the_rest_is_backed_up(
    source: Command, restoring: Command, settings: Settings
) -> None:
    async with serve_world(settings) as world:
        space = await world.owner.create_space()
        file = await world.owner.upload(space, FILE)
        await world.owner.say(space, "kept", files=[file["id"]])
    [stored] = settings.files_dir.rglob(f"{file['sha256']}-*")
    stored.unlink()
    ran = await source("backup", "-o", "all.tar")
    assert ran.code == 1
    assert f"Missing in the file store: {file['sha256'][:2]}/{stored.name}" in ran.err
    ran = await restoring.ok("restore", "all.tar", "--json")
    if settings.embedded:
        assert ran.json["missing"] == 1


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_without_pg_dump_it_says_what_to_run_and_the_files_can_be_backed_up(
    source: Command, restoring: Command, world: World, target: Settings
) -> None:
    space = await world.owner.create_space()
    await world.owner.say(space, "kept", files=[(await world.owner.upload(space, FILE))["id"]])
    bare = source.given(PATH="")
    line = await bare.line("backup", "-o", "all.tar", code=2)
    assert line.startswith("pg_dump was not found. Install PostgreSQL's client programs, of")
    assert "majlis backup --without-database" in line
    assert list(source._folder.iterdir()) == []
    await bare.ok("backup", "-o", "files.tar", "--without-database")
    ran = await restoring.ok("restore", "files.tar")
    assert "The backup has no database." in ran.err
    assert [path.read_bytes() for path in target.files_dir.rglob("*-*") if path.is_file()] == [FILE]


@ONE_ENGINE
async def test_a_backup_to_standard_output_is_the_same_archive(
    source: Command, restoring: Command, world: World
) -> None:
    process = await source.start("backup", "-o", "-")
    content, _ = await process.communicate()
    assert process.returncode == 0
    (source._folder / "piped.tar").write_bytes(content)
    await restoring.ok("restore", "piped.tar")


async def test_a_backup_of_nothing_is_refused(majlis: Command) -> None:
    assert "There is no database" in await majlis.line("backup", code=2)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
