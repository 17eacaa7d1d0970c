"""D1: files over `/mcp`, as results of `read_file` and as resources."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from majlis.api.mcp.files import PAGE
from tests.mcp.conftest import Connect
from tests.world import World

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_d1_a_long_text_comes_in_parts_that_join_to_the_whole(world: World, connect: Connect) -> None:
    text = "Crème brûlée 🍮\n" * 5_000
    space = await world.owner.create_space("Kitchen")
    found: list[str] = []
    async with connect(world.owner) as session:
        for content in (text.encode(), text.encode("utf-16")):
            file = await world.owner.upload(space, content)
            part: Any = {"nextOffset": 0}
            found.clear()
            while (offset := part["nextOffset"]) is not None:
                part = await session.ok("read_file", fileId=file["id"], offset=offset)
                assert (part["offset"], part["total"]) == (offset, len(text))
                assert len(part["text"]) <= PAGE
                found.append(part["text"])
            assert "".join(found) == text
            assert len(found) > 3
            assert part["file"]["mediaType"] == "text/plain"
        code, _ = await session.refusal("read_file", fileId=file["id"], offset=10**9)
        assert code == "bad_offset"


async def test_d1_a_picture_is_content_and_other_files_are_described(world: World, connect: Connect) -> None:
    space = await world.owner.create_space("Kitchen")
    picture = await world.owner.upload(space, PIXEL, "pixel.png")
    archive = await world.owner.upload(space, b"PK\x03\x04" + bytes(100), "soup.zip")
    async with connect(world.owner) as session:
        result = await session.client.call_tool("read_file", {"fileId": picture["id"]})
        text, image = result.content
        assert image.type == "image"
        assert image.mime_type == "image/jpeg"
        assert base64.b64decode(image.data).startswith(b"\xff\xd8\xff")
        assert text.type == "text"
        assert json.loads(text.text)["file"]["name"] == "pixel.png"
        [whole] = (await session.client.read_resource(f"majlis://file/{picture['id']}")).contents
        assert base64.b64decode(whole.blob) == PIXEL  # type: ignore[union-attr]
        described = await session.ok("read_file", fileId=archive["id"])
        assert described["file"]["bytes"] == 104
        assert f"/api/files/{archive['id']}" in described["note"]


async def test_d1_a_file_is_read_only_by_members_of_a_space_that_carries_it(world: World, connect: Connect) -> None:
    sara, ben = await world.person("Sara"), await world.person("Ben")
    space = await sara.create_space("Kitchen", ben)
    file = await sara.upload(space, b"soup")
    uri = f"majlis://file/{file['id']}"
    async with connect(ben) as session:
        assert (await session.refusal("read_file", fileId=file["id"]))[0] == "unknown_file"
        message = await sara.say(space, "Here", files=[file["id"]])
        assert (await session.ok("read_file", fileId=file["id"]))["text"] == "soup"
        [content] = (await session.client.read_resource(uri)).contents
        assert (content.uri, content.text) == (uri, "soup")  # type: ignore[union-attr]
        await sara.ok("DELETE", f"/api/messages/{message['id']}")
        assert (await session.refusal("read_file", fileId=file["id"]))[0] == "unknown_file"
        with pytest.raises(MCPError, match="no file"):
            await session.client.read_resource(uri)
