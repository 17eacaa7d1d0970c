"""Files that attack the process which reads them cost their reader an error, and nothing else (L5)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from majlis.errors import Invalid
from majlis.files.process import Decoder
from tests.spaces.documents import bomb, endless, nested, pdf
from tests.spaces.pictures import png


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 65_536):
        yield content[start : start + 65_536]


@pytest.mark.parametrize(
    "content",
    [bomb(300), endless(), nested(100_000), b"%PDF-1.7 <script>alert(1)</script>"],
    ids=["bomb", "endless", "nested", "polyglot"],
)
async def test_l5_a_hostile_pdf_costs_an_error(content: bytes) -> None:
    decoder = Decoder()
    with suppress(Invalid):
        about, text = await decoder.run("pdf_text", pieces(content))
        assert about["damaged"] or about["empty"]
        assert len(text) < 1_000
    # The next file is read as if nothing had happened.
    about, text = await decoder.run("pdf_text", pieces(pdf("Still here")))
    assert b"Still here" in text


async def test_l5_a_picture_with_a_hundred_thousand_pixels_a_side_is_not_decoded() -> None:
    with pytest.raises(Invalid, match=r"damaged|too many pixels"):
        await Decoder().run("picture", pieces(png(100_000, 100_000)), side=320, format="WEBP")


async def test_l5_a_reader_that_takes_too_long_is_killed() -> None:
    async def endless_pieces() -> AsyncIterator[bytes]:
        yield b"%PDF-1.4"
        await asyncio.Event().wait()

    with pytest.raises(Invalid, match="takes too long"):
        await Decoder(seconds=0.5).run("pdf_text", endless_pieces())
    assert not any(b"majlis.files.job" in each for each in _of_children("cmdline"))


async def test_l5_a_missing_content_is_told_at_once() -> None:
    async def missing() -> AsyncIterator[bytes]:
        for _ in range(1):
            raise FileNotFoundError
        yield b""

    with pytest.raises(FileNotFoundError):
        await Decoder().run("pdf_text", missing())


async def test_l5_the_process_has_no_secrets_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAJLIS_SECRET_KEY", "s3cret-s3cret")
    seen: list[bytes] = []

    async def looking() -> AsyncIterator[bytes]:
        seen.extend(_of_children("environ"))
        yield pdf("x")

    await Decoder().run("pdf_text", looking())
    assert not any(b"s3cret" in each for each in seen)


def _of_children(what: str) -> list[bytes]:
    """The processes that this one has started, on Linux."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    found = []
    for child in listed.read_text().split() if listed.exists() else ():
        with suppress(FileNotFoundError, ProcessLookupError):
            found.append(Path(f"/proc/{child}/{what}").read_bytes())
    return found
