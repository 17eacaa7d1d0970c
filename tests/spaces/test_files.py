"""Files in spaces (L4): upload, messages that carry them, download, quotas, and what the janitor deletes."""

from __future__ import annotations

import asyncio
import hashlib
import io
from contextlib import suppress
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from PIL import Image

from majlis import clock, janitor
from majlis.settings import Settings
from majlis.spaces.attachments import UNUSED_MILLIS
from majlis.store.tables import attachments, blobs, files
from majlis.store.transactions import Tx
from tests.api.test_bad_input import assert_error
from tests.conditions import until
from tests.spaces.pictures import painted, png
from tests.world import World, serve_world


def rows(tx: Tx) -> dict[str, int]:
    counted = (files, blobs, attachments)
    return {each.name: tx.execute(sa.select(sa.func.count()).select_from(each)).scalar_one() for each in counted}


def on_disk(world: World) -> list[bytes]:
    root = world.gateway.uploads.store.root
    return sorted(path.read_bytes() for path in root.rglob("*") if path.is_file())


async def collect(world: World) -> None:
    await janitor.collect_files(world.gateway.db, world.gateway.uploads.store)


async def test_l4_a_file_is_uploaded_sent_and_downloaded(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Files", sara)
    content = "naïve, 1\n".encode() * 50_000
    file = await world.owner.upload(space, content, "report.csv")
    sha256 = hashlib.sha256(content).hexdigest()
    expected = {"name": "report.csv", "mediaType": "text/csv", "bytes": len(content), "sha256": sha256}
    assert file == {"id": file["id"], **expected}
    picture = await world.owner.upload(space, png(), "shot.png")
    assert (picture["mediaType"], picture["width"], picture["height"]) == ("image/png", 3, 2)

    message = await world.owner.say(space, "", files=[picture["id"], file["id"], file["id"]])
    assert message["text"] == ""
    assert message["files"] == [picture, file]
    assert [each["files"] for each in (await sara.history(space))["messages"]] == [[picture, file]]
    assert (await sara.say(space, "Thanks"))["files"] == []

    download = await sara.get(f"/api/files/{file['id']}")
    assert (download.status_code, download.content) == (200, content)
    assert download.headers["content-length"] == str(len(content))
    assert download.headers["content-type"] == "text/plain; charset=utf-8"
    assert download.headers["content-disposition"].startswith('attachment; filename="report.csv"')
    shown = await sara.get(f"/api/files/{picture['id']}")
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["content-disposition"].startswith("inline")


async def test_l4_ranges_and_etags(world: World) -> None:
    space = await world.owner.create_space()
    file = await world.owner.upload(space, b"0123456789")
    path = f"/api/files/{file['id']}"

    async def get(**headers: str) -> Any:
        return await world.owner.http.get(path, headers={name.replace("_", "-"): v for name, v in headers.items()})

    for asked, status, content, answered in (
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=5-900", 206, b"56789", "bytes 5-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=4-2", 416, b"", "bytes */10"),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("lines=0-1", 200, b"0123456789", None),
    ):
        answer = await get(Range=asked)
        assert (answer.status_code, answer.content) == (status, content), asked
        assert answer.headers.get("content-range") == answered
    etag = (await get()).headers["etag"]
    assert (await get(If_None_Match=etag)).status_code == 304
    assert (await get(Range="bytes=0-1", If_Range='"other"')).status_code == 200
    assert (await get(Range="bytes=0-1", If_Range=etag)).status_code == 206


async def test_l4_only_who_may_read_a_message_downloads_its_files(world: World) -> None:
    sara, eve = await world.person("Sara"), await world.person("Eve")
    space = await world.owner.create_space("Private", sara)
    file = await world.owner.upload(space, b"secret")
    path = f"/api/files/{file['id']}"
    # Unused: its uploader only, even among the members.
    assert (await world.owner.get(path)).status_code == 200
    assert_error(await sara.get(path), 404, "unknown_file")
    body = {"text": "mine", "files": [file["id"]]}
    assert_error(await sara.post(f"/api/spaces/{space}/messages", body), 422, "unknown_file")
    await world.owner.say(space, "Look", files=[file["id"]])
    assert (await sara.get(path)).status_code == 200
    assert_error(await eve.get(path), 404, "unknown_file")
    own = await eve.create_space("Eve's")
    assert_error(await eve.post(f"/api/spaces/{own}/messages", body), 422, "unknown_file")
    # A reader may pass it on, and a member who left cannot read it.
    other = await sara.create_space("Other", eve)
    assert (await sara.say(other, "", files=[file["id"]]))["files"][0]["id"] == file["id"]
    assert (await eve.get(path)).content == b"secret"
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
    await sara.ok("DELETE", f"/api/spaces/{other}/members/{sara.id}")
    assert_error(await sara.get(path), 404, "unknown_file")
    assert (await eve.get(path)).status_code == 200
    assert_error(await sara.post_file(space, b"x"), 404, "unknown_space")


async def test_l4_a_repeated_upload_and_message_store_nothing_twice(world: World) -> None:
    space = await world.owner.create_space()
    key = {"Idempotency-Key": "shot-1"}
    answers = await asyncio.gather(*(world.owner.post_file(space, b"once", **key) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert_error(await world.owner.post_file(space, b"other", **key), 409, "upload_key_used")
    file = answers[0].json()["id"]
    sent = [await world.owner.say(space, "Here", files=[file], clientId="c1") for _ in range(2)]
    assert sent[0] == sent[1]
    assert sent[0]["files"][0]["id"] == file
    # The same content under another name is another file with the same bytes.
    await world.owner.upload(space, b"once", "again.txt")
    assert await world.gateway.db.read(rows) == {"files": 2, "blobs": 2, "attachments": 1}
    assert on_disk(world) == [b"once", b"other"]


async def test_l4_bad_uploads_and_messages_are_refused(world: World) -> None:
    viewer = await world.person("Viewer")
    space = await world.owner.create_space()
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": viewer.id, "role": "viewer"})
    path, messages = f"/api/spaces/{space}/files", f"/api/spaces/{space}/messages"
    assert_error(await viewer.post_file(space, b"x"), 403, "viewer")
    assert_error(await world.owner.post(path, {"file": "x"}), 422, "invalid_request")
    assert_error(await world.owner.http.post(path, files={"other": ("a", b"x")}), 422, "invalid_request")
    form = {"content-type": "multipart/form-data; boundary=b"}
    for body in (b"", b"--b\r\n", b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncut off'):
        answer = await world.owner.http.post(path, content=body, headers=form)
        assert answer.status_code in (400, 422), body
        assert answer.json()["error"]["message"]
    assert_error(await world.owner.post(messages, {"text": " "}), 422, "empty_text")
    unknown = {"text": "", "files": ["fil_0123456789abcdef"]}
    assert_error(await world.owner.post(messages, unknown), 422, "unknown_file")
    many = {"text": "", "files": [f"fil_{n:016}" for n in range(21)]}
    assert_error(await world.owner.post(messages, many), 422, "invalid_request")
    assert await world.gateway.db.read(rows) == {"files": 0, "blobs": 0, "attachments": 0}
    assert on_disk(world) == []


async def test_l4_g10_sizes_and_quotas(settings: Settings) -> None:
    limits = {"max_file_bytes": 1000, "file_bytes_per_member": 2500, "file_bytes_per_space": 3000}
    async with serve_world(settings.model_copy(update=limits)) as world:
        sara = await world.person("Sara")
        space = await world.owner.create_space("Full", sara)
        await world.owner.upload(space, b"1" * 1000)
        assert_error(await world.owner.post_file(space, b"x" * 1001), 413, "file_too_large")
        assert_error(await world.owner.post_file(space, b"x" * 200_000), 413, "file_too_large")

        async def endless() -> Any:
            yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
            while True:
                yield b"x" * 65_536

        form = {"content-type": "multipart/form-data; boundary=b"}
        # The server cuts it off, which this client reports in one of two ways.
        with suppress(httpx.TransportError):
            answer = await world.owner.http.post(f"/api/spaces/{space}/files", content=endless(), headers=form)
            assert_error(answer, 413, "file_too_large")
        assert not any(world.gateway.uploads.store.spool.iterdir())

        await world.owner.upload(space, b"2" * 1000)
        both = await asyncio.gather(*(world.owner.post_file(space, n * 300) for n in (b"3", b"4")))
        assert sorted(answer.status_code for answer in both) == [201, 409]
        refused = next(answer for answer in both if answer.status_code == 409)
        assert_error(refused, 409, "file_quota")
        assert refused.json()["error"]["details"] == {"usedBytes": 2300, "maxBytes": 2500}
        assert_error(await sara.post_file(space, b"5" * 701), 409, "file_quota")
        await sara.upload(space, b"6" * 700)
        assert (await world.gateway.db.read(rows))["files"] == 4


async def test_l4_an_upload_that_is_given_up_leaves_nothing(world: World) -> None:
    space = await world.owner.create_space()
    spool = world.gateway.uploads.store.spool
    host, port = world.base_url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    head = f"POST /api/spaces/{space}/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.owner.token}\r\n"
    part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    form = "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n"
    writer.write(f"{head}{form}{part}begun".encode())
    await writer.drain()
    await until(lambda: spool.exists() and any(spool.iterdir()))
    writer.close()
    await until(lambda: not any(spool.iterdir()))
    assert world.gateway.uploads._open == {}
    await world.owner.upload(space, b"next")


@pytest.mark.usefixtures("standing_clock")
async def test_l4_unused_uploads_disappear_after_a_day_and_used_ones_stay(world: World) -> None:
    space = await world.owner.create_space()
    unused, used = await world.owner.upload(space, b"unused"), await world.owner.upload(space, b"used")
    twin = await world.owner.upload(space, b"used", "twin.txt")
    await world.owner.say(space, "", files=[used["id"]])
    clock.advance(UNUSED_MILLIS - 1)
    await collect(world)
    assert (await world.owner.get(f"/api/files/{unused['id']}")).status_code == 200
    clock.advance(1)
    await collect(world)
    for gone in (unused, twin):
        assert_error(await world.owner.get(f"/api/files/{gone['id']}"), 404, "unknown_file")
    assert (await world.owner.get(f"/api/files/{used['id']}")).content == b"used"
    assert await world.gateway.db.read(rows) == {"files": 1, "blobs": 1, "attachments": 1}
    assert on_disk(world) == [b"used"]
    again = await world.owner.upload(space, b"unused")
    assert (await world.owner.get(f"/api/files/{again['id']}")).content == b"unused"


@pytest.mark.usefixtures("standing_clock")
async def test_l4_the_files_of_a_deleted_space_are_deleted_with_its_messages(world: World) -> None:
    space, kept = await world.owner.create_space(), await world.owner.create_space()
    gone, shared = await world.owner.upload(space, b"gone"), await world.owner.upload(space, b"shared")
    await world.owner.say(space, "", files=[gone["id"], shared["id"]])
    await world.owner.say(kept, "", files=[shared["id"]])
    await world.owner.ok("DELETE", f"/api/spaces/{space}")
    assert_error(await world.owner.get(f"/api/files/{gone['id']}"), 404, "unknown_file")
    clock.advance(1000 * 3_600_000)
    await janitor.clean(world.gateway.db, world.gateway.settings)
    await collect(world)
    assert on_disk(world) == [b"shared"]
    assert (await world.owner.get(f"/api/files/{shared['id']}")).content == b"shared"


async def test_l4_a_deletion_that_was_interrupted_is_ended_later(world: World) -> None:
    """After a crash between the marking of the bytes and their deletion, the same bytes can be uploaded again."""
    from majlis.spaces.attachments import delete_unused, unused_blobs

    space = await world.owner.create_space()
    await world.owner.upload(space, b"same")
    clock.advance(UNUSED_MILLIS)
    assert await world.gateway.db.write(delete_unused) == 1
    assert len(await world.gateway.db.write(unused_blobs)) == 1
    again = await world.owner.upload(space, b"same")
    assert on_disk(world) == [b"same", b"same"]
    await collect(world)
    assert on_disk(world) == [b"same"]
    assert (await world.owner.get(f"/api/files/{again['id']}")).content == b"same"


async def test_a_file_that_the_store_has_lost_is_reported(world: World) -> None:
    space = await world.owner.create_space()
    file = await world.owner.upload(space, b"lost")
    for path in world.gateway.uploads.store.root.rglob("*-*"):
        path.unlink()
    assert_error(await world.owner.get(f"/api/files/{file['id']}"), 404, "missing_file")


async def test_l2_a_deleted_message_takes_its_files_along(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Files", sara)
    gone, kept = [await world.owner.upload(space, text, "note.txt") for text in (b"secret plan", b"shared")]
    message = await world.owner.say(space, "", files=[gone["id"], kept["id"]])
    await world.owner.say(space, "again", files=[kept["id"]])
    deleted = await world.owner.ok("DELETE", f"/api/messages/{message['id']}")
    assert deleted["files"] == []
    for reader in (sara, world.owner):
        assert_error(await reader.get(f"/api/files/{gone['id']}"), 404, "unknown_file")
        assert (await reader.get(f"/api/files/{kept['id']}")).content == b"shared"
    await collect(world)
    assert on_disk(world) == [b"shared"]


async def test_l4_the_files_of_a_space_are_listed_newest_first(world: World) -> None:
    sara, eve = await world.person("Sara"), await world.person("Eve")
    space, other = await world.owner.create_space("Files", sara), await world.owner.create_space("Other")
    sent = []
    for name in ("a.txt", "b.txt", "c.txt"):
        file = await world.owner.upload(space, name.encode(), name)
        message = await world.owner.say(space, "", files=[file["id"]])
        sent.append({**file, "messageId": message["id"], "sender": message["sender"]})
    elsewhere = await world.owner.upload(other, b"other")
    await world.owner.say(other, "", files=[elsewhere["id"]])
    await world.owner.upload(space, b"unused")
    # Sent again by another member: listed once, with the newer message.
    again = await sara.say(space, "", files=[sent[0]["id"]])
    sent[0] |= {"messageId": again["id"], "sender": again["sender"]}

    async def page(query: str = "") -> Any:
        found = await sara.ok("GET", f"/api/spaces/{space}/files{query}")
        assert all(each.pop("createdAt") for each in found["files"])
        return found

    assert await page() == {"files": sent[::-1], "hasMore": False}
    assert await page("?limit=2") == {"files": [sent[2], sent[1]], "hasMore": True}
    assert await page(f"?limit=2&before={sent[1]['id']}") == {"files": [sent[0]], "hasMore": False}
    assert_error(await eve.get(f"/api/spaces/{space}/files"), 404, "unknown_space")
    await world.owner.ok("DELETE", f"/api/messages/{sent[2]['messageId']}")
    assert [each["name"] for each in (await page())["files"]] == ["b.txt", "a.txt"]


async def test_l4_thumbnails_are_made_once_and_go_with_the_file(world: World) -> None:
    sara, eve = await world.person("Sara"), await world.person("Eve")
    space = await world.owner.create_space("Files", sara)
    content = painted(900, 600)
    picture = await world.owner.upload(space, content, "large.png")
    text = await world.owner.upload(space, b"text")
    message = await world.owner.say(space, "", files=[picture["id"], text["id"]])
    path = f"/api/files/{picture['id']}/thumbnail"
    answer = await sara.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    with Image.open(io.BytesIO(answer.content)) as shown:
        assert (shown.format, shown.size) == ("WEBP", (320, 213))
    assert (await sara.get(f"{path}?size=640")).content != answer.content
    assert len(on_disk(world)) == 4
    assert (await sara.get(path)).content == answer.content
    again = await sara.http.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert_error(await sara.get(f"/api/files/{text['id']}/thumbnail"), 404, "not_a_picture")
    assert (await sara.get(f"{path}?size=5000")).status_code == 422
    assert_error(await eve.get(path), 404, "unknown_file")
    await world.owner.ok("DELETE", f"/api/messages/{message['id']}")
    await collect(world)
    assert on_disk(world) == []
    assert_error(await sara.get(path), 404, "unknown_file")
