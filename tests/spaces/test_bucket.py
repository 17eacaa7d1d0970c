"""L4: the file store in a bucket of an S3-compatible server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from moto.server import ThreadedMotoServer

from majlis import janitor
from majlis.errors import ConfigurationError, Unavailable
from majlis.files.bucket import Bucket, store_at
from majlis.settings import Settings, load_settings
from tests.cli.command import Command
from tests.cli.processes import Commands
from tests.spaces.pictures import painted
from tests.world import World, serve_world

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
async def world(settings: Settings, s3: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    for name, value in {"ENDPOINT_URL": s3, "ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    async with httpx.AsyncClient(trust_env=False) as http:
        # The server loads its code at the first request.
        await http.put(f"{s3}/files-of-tests", timeout=120)
    async with serve_world(settings.model_copy(update={"file_store": "s3://files-of-tests/majlis"})) as served:
        yield served


async def names(s3: str) -> list[str]:
    async with httpx.AsyncClient(trust_env=False) as http:
        listing = (await http.get(f"{s3}/files-of-tests?list-type=2")).text
    return [part.partition("</Key>")[0] for part in listing.split("<Key>")[1:]]


async def test_l4_files_in_a_bucket(world: World, s3: str) -> None:
    space = await world.owner.create_space()
    content = bytes(range(256)) * 30_000
    large, empty = await world.owner.upload(space, content, "large.bin"), await world.owner.upload(space, b"", "empty")
    picture = await world.owner.upload(space, painted(900, 600), "picture.png")
    sent = [large["id"], empty["id"], picture["id"]]
    message = await world.owner.say(space, "", files=sent)
    path = f"/api/files/{large['id']}"
    assert (await world.owner.get(path)).content == content
    part = await world.owner.http.get(path, headers={"Range": "bytes=256-511"})
    assert (part.status_code, part.content) == (206, bytes(range(256)))
    assert (await world.owner.get(f"/api/files/{empty['id']}")).content == b""
    for _ in range(2):
        thumbnail = await world.owner.get(f"/api/files/{picture['id']}/thumbnail")
        assert thumbnail.headers["content-type"] == "image/webp"
    kept = await names(s3)
    assert len(kept) == 4
    assert all(name.startswith("majlis/") for name in kept)
    store = world.gateway.uploads.store
    assert isinstance(store, Bucket)
    assert not any(path.is_file() for path in _local(store))
    await world.owner.ok("DELETE", f"/api/messages/{message['id']}")
    await janitor.collect_files(world.gateway.db, store)
    assert await names(s3) == []
    # Repeating a deletion changes nothing.
    await store.delete("aa/none")


async def test_l4_a_bucket_is_read_and_written_without_a_loop(world: World) -> None:
    """As exports and imports do."""
    store = world.gateway.uploads.store
    assert isinstance(store, Bucket)

    def move() -> bytes:
        store.spool.mkdir(parents=True, exist_ok=True)
        path = store.spool / "one"
        path.write_bytes(b"content")
        store.put_now("xx/one", path)
        assert store.has_now("xx/one")
        assert not store.has_now("xx/two")
        with store.open_now("xx/one") as file:
            return file.read()

    assert await asyncio.to_thread(move) == b"content"
    with pytest.raises(FileNotFoundError):
        await asyncio.to_thread(store.open_now, "xx/two")


async def test_l4_a_missing_bucket_is_not_the_fault_of_the_request(world: World, tmp_path: Path) -> None:
    store = Bucket("s3://no-such-bucket/x", tmp_path)
    with pytest.raises(Unavailable, match="file store"):
        await store.put_bytes("a", b"b")


def test_l4_a_place_is_a_folder_or_a_bucket(settings: Settings, tmp_path: Path) -> None:
    for place in ("s3://b", "s3://UPPER/x", "gs://bucket", "s3:///x"):
        with pytest.raises(ConfigurationError, match="s3://bucket/prefix"):
            load_settings({"data_dir": tmp_path, "file_store": place})
    loaded = load_settings({"data_dir": tmp_path, "file_store": "s3://bucket/pre/fix"})
    assert loaded.files_dir == tmp_path / "files"
    assert isinstance(store_at(loaded.file_store, loaded.files_dir), Bucket)


def _local(store: Bucket) -> list[Path]:
    return list(store.root.rglob("*"))


async def test_a_backup_has_the_files_of_a_bucket_and_a_restore_puts_them_into_one(
    world: World, s3: str, settings: Settings, tmp_path: Path, commands: Commands
) -> None:
    space = await world.owner.create_space()
    content = b"in a bucket " * 1000
    file = await world.owner.upload(space, content)
    await world.owner.say(space, "kept", files=[file["id"]])
    place = {"MAJLIS_DATABASE_URL": settings.database_url, "MAJLIS_DATA_DIR": str(settings.data_dir)}
    majlis = Command(tmp_path, commands, MAJLIS_FILE_STORE="s3://files-of-tests/majlis", **place)
    assert (await majlis.ok("backup", "-o", "all.tar", "--json")).json["missing"] == []
    restored = {"MAJLIS_DATABASE_URL": "", "MAJLIS_DATA_DIR": str(tmp_path / "restored")}
    elsewhere = majlis.given(MAJLIS_FILE_STORE="s3://files-of-tests/restored", **restored)
    assert (await elsewhere.ok("restore", "all.tar", "--json")).json["missing"] == 0
    assert any(name.startswith(f"restored/{file['sha256'][:2]}/{file['sha256']}") for name in await names(s3))
