"""Pictures of people and agents: made small and square from an upload, and served under an address of their content."""

from __future__ import annotations

import io
from typing import Any

import httpx
import sqlalchemy as sa
from PIL import Image

from majlis.files.reader import PORTRAIT_SIDE
from majlis.store.tables import pictures
from tests.api.test_bad_input import assert_error
from tests.spaces.pictures import painted, png
from tests.world import Person, World

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


async def put(who: Person, entity_id: str, content: bytes, name: str = "me.png") -> httpx.Response:
    path = f"/api/entities/{entity_id}/picture"
    return await who.http.put(path, files={"file": (name, content, "image/png")})


async def set_own(who: Person, content: bytes) -> str:
    response = await put(who, who.id, content)
    assert response.status_code == 200, response.text
    return str(response.json()["picture"])


def halves() -> bytes:
    """Wide and short: red on the left and right, blue in the middle, with metadata."""
    image = Image.new("RGB", (900, 300), "red")
    image.paste((0, 0, 255), (300, 0, 600, 300))
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x010E] = "taken at home"
    image.save(out, "JPEG", exif=exif)
    return out.getvalue()


async def test_a_picture_is_the_middle_of_the_upload_small_and_without_metadata(world: World) -> None:
    sara = await world.person("Sara")
    path = await set_own(sara, halves())
    served = await sara.get(path)
    assert (served.headers["content-type"], served.headers["x-content-type-options"]) == ("image/webp", "nosniff")
    assert "immutable" in served.headers["cache-control"]
    assert b"taken at home" not in served.content
    with Image.open(io.BytesIO(served.content)) as picture:
        assert (picture.format, picture.size) == ("WEBP", (PORTRAIT_SIDE, PORTRAIT_SIDE))
        middle, edge = [picture.convert("RGB").getpixel(at) for at in ((96, 96), (8, 96))]
    for pixel in (middle, edge):
        assert isinstance(pixel, tuple)
        assert pixel[2] > 200 > 60 > pixel[0]


async def test_a_photo_of_several_megabytes_is_a_picture(world: World) -> None:
    sara, out = await world.person("Sara"), io.BytesIO()
    Image.effect_noise((2400, 1800), 90).convert("RGB").save(out, "JPEG", quality=95)
    assert len(out.getvalue()) > 3_000_000
    await set_own(sara, out.getvalue())
    assert_error(await sara.http.get("/api/pictures/%00"), 422, "invalid_request")


async def test_members_of_common_spaces_hear_of_a_new_picture_and_everyone_signed_in_can_load_it(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    space = await world.owner.create_space("Plans", sara)
    async with world.owner.follow(space) as events:
        await events.next()
        path = await set_own(sara, painted(40, 40))
        told = (await events.until("space.member.updated")).data["member"]
        assert (told["id"], told["picture"]) == (sara.id, path)
    assert (await omar.get(path)).status_code == 200
    async with httpx.AsyncClient(verify=False, base_url=world.base_url) as stranger:
        assert (await stranger.get(path)).status_code == 401
    listed = {each["name"]: each["picture"] for each in (await world.owner.space(space))["members"]}
    assert listed == {"Owner": None, "Sara": path}
    assert (await omar.ok("GET", f"/api/entities/{sara.id}"))["picture"] == path
    assert (await sara.ok("GET", "/api/me"))["picture"] == path
    assert await set_own(sara, painted(50, 50)) != path
    assert_error(await omar.get(path), 404, "unknown_picture")


async def test_a_removed_picture_and_that_of_a_deleted_person_are_gone(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    space = await world.owner.create_space("Plans", sara)
    path = await set_own(sara, painted(40, 40))
    assert await set_own(omar, painted(41, 41)) != path
    for _ in range(2):
        await sara.ok("DELETE", f"/api/entities/{sara.id}/picture")
    assert_error(await omar.get(path), 404, "unknown_picture")
    assert {each["picture"] for each in (await world.owner.space(space))["members"]} == {None}
    await world.owner.ok("DELETE", f"/api/entities/{omar.id}")
    assert await world.gateway.db.read(lambda tx: tx.all(sa.select(pictures))) == []


async def test_only_the_person_and_administrators_change_a_picture(world: World) -> None:
    sara, omar, ada = await world.person("Sara"), await world.person("Omar"), await world.agent("Ada", model="demo")
    content = painted(40, 40)
    for who, whose in ((omar, sara), (ada, ada), (sara, world.owner)):
        assert_error(await put(who, whose.id, content), 403, "not_allowed")
        assert_error(await who.delete(f"/api/entities/{whose.id}/picture"), 403, "not_allowed")
    response = await put(world.owner, ada.id, content)
    assert response.status_code == 200, response.text
    picture = response.json()["picture"]
    # Another config leaves the picture alone.
    changed = await world.owner.ok("PATCH", f"/api/agents/{ada.id}", {"config": {"instructions": "Be brief."}})
    assert changed["picture"] == picture
    entries = (await world.owner.ok("GET", "/api/audit", action="entity.changed"))["entries"]
    assert [(each["target"], each["details"]["after"]) for each in entries] == [
        (ada.id, {"picture": picture.rpartition("/")[2]})
    ]


async def test_a_bomb_or_a_file_that_is_not_a_picture_is_refused(world: World) -> None:
    sara = await world.person("Sara")
    refused: list[tuple[bytes, str]] = [
        (SVG, "not_a_picture"),
        (b"hello", "not_a_picture"),
        # Few bytes, many pixels: above the limit of the header, and above that of the decoder.
        (png(20_000, 20_000), "picture_too_large"),
        (png(9_000, 9_000), "unreadable_file"),
        (painted(60, 60)[:-40], "unreadable_file"),
    ]
    for content, code in refused:
        assert_error(await put(sara, sara.id, content), 422, code)
    body: dict[str, Any] = {"json": {"picture": "x"}}
    assert_error(await sara.http.put(f"/api/entities/{sara.id}/picture", **body), 422, "invalid_request")
    assert (await sara.get(f"/api/pictures/{'0' * 64}")).status_code == 404
    assert (await sara.ok("GET", "/api/me"))["picture"] is None
