"""Reads what is in stored files: text, and pictures in a size of ours."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from majlis.errors import Invalid, NotFound
from majlis.files.process import Decoder
from majlis.files.sniff import PICTURES, is_text
from majlis.files.store import CHUNK, FileStore
from majlis.files.upload import Upload

PDF = "application/pdf"
MAX_TEXT_BYTES = 50 * 1024 * 1024
# The text of a PDF is kept so long for its next part, and so it is gone a minute after the file (L2).
_KEPT_SECONDS = 45
_MAX_KEPT = 4
SIDES = (160, 320, 640, 1280)
# As models get them: larger ones are scaled down by the providers.
MODEL_SIDE = 1568
# Twice the largest avatar of the web app.
PORTRAIT_SIDE = 192
Format = Literal["WEBP", "JPEG"]


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    note: str | None = None


@dataclass(slots=True)
class Reader:
    """One per process. Its methods take rows of the table `files`."""

    store: FileStore
    decoder: Decoder = field(default_factory=Decoder)
    _kept: dict[str, Text] = field(default_factory=dict)

    async def text(self, file: Any) -> Text:
        """Raises Invalid if it is neither text nor a PDF that can be read."""
        if not is_text(file.media_type) and file.media_type != PDF:
            problem = f"{file.name} is {file.media_type}. Only text, code, CSV, JSON and PDF can be read as text."
            raise Invalid("not_text", problem)
        if file.bytes > MAX_TEXT_BYTES:
            raise Invalid("file_too_large", f"{file.name} is too large to read: {file.bytes} bytes.")
        if file.media_type != PDF:
            content = b"".join([piece async for piece in self._pieces(file)])
            return Text(await asyncio.to_thread(_decoded, content))
        if file.blob not in self._kept:
            self._keep(file.blob, await self._pdf(file))
        return self._kept[file.blob]

    async def picture(self, file: Any, side: int, format: Format) -> bytes:
        """Made once for each size; the store keeps it."""
        if file.media_type not in PICTURES:
            raise Invalid("not_a_picture", f"{file.name} is {file.media_type}, not a picture.")
        name = derived_name(file.blob, side, format)
        try:
            return await self.store.read_all(name)
        except FileNotFoundError:
            _, made = await self._decode(file, "picture", side=side, format=format)
            await self.store.put_bytes(name, made)
            # The content may have been deleted meanwhile, and then what was made from it.
            if not await self.store.has(file.blob):
                await self.store.delete(name)
            return made

    async def portrait(self, upload: Upload) -> bytes:
        """A small square picture, as WebP."""
        if upload.sniffed.media_type not in PICTURES:
            problem = f"{upload.name} is {upload.sniffed.media_type}. Use a PNG, JPEG, GIF or WebP picture."
            raise Invalid("not_a_picture", problem, {"path": "file"})
        try:
            _, made = await self.decoder.run(
                "picture", _pieces_of(upload.path), side=PORTRAIT_SIDE, format="WEBP", square=True
            )
        except Invalid as error:
            raise Invalid(error.code, f"{upload.name} cannot be read: {error.message}.", {"path": "file"}) from None
        return made

    async def _pdf(self, file: Any) -> Text:
        about, content = await self._decode(file, "pdf_text")
        notes = []
        if about["read"] < about["pages"]:
            notes.append(f"Only the first {about['read']} of {about['pages']} pages were read.")
        if about["damaged"]:
            notes.append(f"{about['damaged']} pages are damaged.")
        if about["empty"]:
            notes.append("The pages contain no text, only pictures.")
        return Text(_decoded(content), " ".join(notes) or None)

    async def _decode(self, file: Any, job: str, **options: Any) -> tuple[dict[str, Any], bytes]:
        try:
            return await self.decoder.run(job, self._pieces(file), **options)
        except Invalid as error:
            raise Invalid(error.code, f"{file.name} cannot be read: {error.message}.") from None

    async def _pieces(self, file: Any) -> AsyncIterator[bytes]:
        try:
            async for piece in self.store.read(file.blob, 0, file.bytes):
                yield piece
        except FileNotFoundError:
            raise NotFound("missing_file", f"The content of {file.id} is missing from the file store.") from None

    def _keep(self, blob: str, text: Text) -> None:
        self._kept[blob] = text
        while len(self._kept) > _MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._kept.pop, blob, None)


async def _pieces_of(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece


def derived_name(blob: str, side: int, format: Format) -> str:
    return f"pictures/{blob}.{side}.{format.lower()}"


def derived_names(blob: str) -> list[str]:
    """The names of everything that may have been made from this content."""
    return [*(derived_name(blob, side, "WEBP") for side in SIDES), derived_name(blob, MODEL_SIDE, "JPEG")]


def _decoded(content: bytes) -> str:
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", "replace").replace("\r\n", "\n").replace("\0", "\ufffd")
