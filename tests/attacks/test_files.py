"""Files that want to run in the page, hide their type or name, or exhaust the server (L4, G10)."""

from __future__ import annotations

import stat

import pytest

from majlis.files.names import MAX_NAME, disposition, safe_name
from tests.api.test_bad_input import assert_error
from tests.spaces.pictures import png
from tests.world import World

SCRIPT = b"<script>fetch('/api/me')</script>"
HOSTILE = (
    (b"<!doctype html>" + SCRIPT, "cat.png", "text/html"),
    (b"\xef\xbb\xbf  <HTML>" + SCRIPT, "cat.jpg", "text/html"),
    (b'<svg xmlns="http://www.w3.org/2000/svg">' + SCRIPT + b"</svg>", "logo.svg", "image/svg+xml"),
    (b'<?xml version="1.0"?><svg onload="alert(1)"/>', "logo.png", "image/svg+xml"),
    (b"GIF89a/*" + SCRIPT + b"*/=1;", "polyglot.gif", "application/octet-stream"),
    (b"\xff\xd8\xff" + SCRIPT, "polyglot.jpg", "application/octet-stream"),
    (b"%PDF-1.7 " + SCRIPT, "polyglot.html", "application/pdf"),
    (b"PK\x03\x04" + SCRIPT, "app.html", "application/zip"),
    (b"alert(1)", "x.js", "text/javascript"),
    (b"\x00\x01\x02" + SCRIPT, "x.html", "application/octet-stream"),
)


async def test_nothing_that_was_uploaded_runs_in_the_page(world: World) -> None:
    """Served as its claimed type, an HTML file named cat.png could act as the reader."""
    eve = await world.person("Eve")
    space = await eve.create_space("Trap", world.owner)
    for content, name, media_type in HOSTILE:
        file = (await eve.post_file(space, content, name, "text/html")).json()
        assert file["mediaType"] == media_type, name
        await eve.say(space, "", files=[file["id"]])
        answer = await world.owner.get(f"/api/files/{file['id']}")
        assert answer.content == content
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-disposition"].startswith("attachment; ")
        shown = answer.headers["content-type"].partition(";")[0]
        assert shown in ("text/plain", "application/octet-stream", "application/pdf", "application/zip")
        (policy,) = answer.headers.get_list("content-security-policy")
        assert "default-src 'none'" in policy
        assert "sandbox" in policy
        assert "allow-scripts" not in policy


async def test_a_picture_with_a_script_behind_it_is_only_a_picture(world: World) -> None:
    space = await world.owner.create_space()
    file = (await world.owner.post_file(space, png() + SCRIPT, "x.html", "text/html")).json()
    answer = await world.owner.get(f"/api/files/{file['id']}")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_a_picture_that_would_fill_the_memory_is_refused(world: World) -> None:
    space = await world.owner.create_space()
    for width, height in ((60_000, 60_000), (50_000, 1), (2**31 - 1, 2**31 - 1)):
        refused = await world.owner.post_file(space, png(width, height), "bomb.png")
        assert_error(refused, 422, "picture_too_large")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        ("/", "file"),
        ("..", "file"),
        ("", "file"),
        ("a\r\nSet-Cookie: x=1.txt", "aSet-Cookie_ x=1.txt"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ('q"uo;te.txt', "q_uo;te.txt"),
        ("naïve 東京.txt", "naïve 東京.txt"),
        ("x" * 500 + ".pdf", "x" * (MAX_NAME - 4) + ".pdf"),
        ("\ud800bad", "bad"),
    ],
)
def test_names_lose_paths_and_control_characters(given: str, name: str) -> None:
    assert safe_name(given) == name
    header = disposition(name, inline=False)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2


async def test_a_hostile_name_stays_a_name(world: World) -> None:
    space = await world.owner.create_space()
    root = world.gateway.uploads.store.root
    for name in ("../../../escaped.txt", "..%2f..%2fescaped.txt", "/tmp/escaped.txt", "C:\\escaped.txt"):
        file = await world.owner.upload(space, name.encode(), name)
        assert "/" not in file["name"]
        assert "\\" not in file["name"]
        assert ".." not in file["name"].split("_")
        answer = await world.owner.get(f"/api/files/{file['id']}")
        assert answer.content == name.encode()
    outside = list(root.parent.rglob("*escaped*"))
    assert outside == []
    for path in root.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


async def test_headers_and_fields_beside_the_file_have_limits(world: World) -> None:
    space = await world.owner.create_space()
    path = f"/api/spaces/{space}/files"
    form = {"content-type": "multipart/form-data; boundary=b"}
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n'
    for body in (
        part + b"X: " + b"y" * 20_000 + b"\r\n\r\nhi\r\n--b--\r\n",
        b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n' + b"y" * 2_000_000 + b"\r\n" + part + b"\r\nhi",
    ):
        assert_error(await world.owner.http.post(path, content=body, headers=form), 400, "malformed_multipart")
    assert not any(world.gateway.uploads.store.spool.iterdir())
