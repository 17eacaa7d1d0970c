"""The type of a file, from its bytes. The name decides only between kinds of text, and between kinds of ZIP archive.

A list of known signatures instead of a library: only these types are ever shown in a browser, so a type that is not
recognized is safe, and a type that is guessed is not.
"""

from __future__ import annotations

import codecs
import warnings
from dataclasses import dataclass
from pathlib import Path

from majlis.errors import Invalid

UNKNOWN = "application/octet-stream"
MAX_PIXELS = 100_000_000
MAX_SIDE = 30_000
# Pillow must be able to read their header; nothing else is shown as a picture.
PICTURES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
_HEAD = 64 * 1024

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
)
_TEXT_BY_ENDING = {
    "csv": "text/csv", "tsv": "text/tab-separated-values", "md": "text/markdown", "markdown": "text/markdown",
    "json": "application/json", "xml": "application/xml", "svg": "image/svg+xml", "html": "text/html",
    "htm": "text/html", "xhtml": "text/html", "js": "text/javascript", "mjs": "text/javascript", "css": "text/css",
    "py": "text/x-python", "ts": "text/x-typescript", "yaml": "application/yaml", "yml": "application/yaml",
    "toml": "application/toml", "sh": "text/x-shellscript", "sql": "text/x-sql",
}  # fmt: skip
_ZIP_BY_ENDING = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
}
_BINARY_TYPES = {media_type for _, _, media_type in _SIGNATURES} | set(_ZIP_BY_ENDING.values())
_TEXT_TYPES = frozenset(_TEXT_BY_ENDING.values()) | {"text/plain"}


@dataclass(frozen=True, slots=True)
class Sniffed:
    media_type: str
    width: int | None = None
    height: int | None = None


def sniff(path: Path, name: str) -> Sniffed:
    """Reads the beginning of the file, and the size of a picture, whose pixels are not decoded. Blocks."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    media_type = _by_signature(head, name) or _text_type(head, name) or UNKNOWN
    if media_type not in PICTURES:
        return Sniffed(media_type)
    size = _size_of_picture(path, PICTURES[media_type])
    return Sniffed(media_type, *size) if size is not None else Sniffed(UNKNOWN)


def is_text(media_type: str) -> bool:
    return media_type in _TEXT_TYPES


def served_as(media_type: str) -> tuple[str, bool]:
    """The Content-Type of a download, and whether a browser may show it. Markup and code are plain text. A type
    that only an import can have brought is ignored."""
    if is_text(media_type):
        return "text/plain; charset=utf-8", False
    if media_type not in _BINARY_TYPES:
        return UNKNOWN, False
    return media_type, media_type in PICTURES or media_type.startswith(("audio/", "video/"))


def _by_signature(head: bytes, name: str) -> str | None:
    for offset, signature, media_type in _SIGNATURES:
        if head.startswith(signature, offset):
            if offset == 8 and not head.startswith(b"RIFF"):
                continue
            return _ZIP_BY_ENDING.get(_ending(name), media_type) if media_type == "application/zip" else media_type
    return None


def _text_type(head: bytes, name: str) -> str | None:
    if not _is_utf8(head):
        return "text/plain" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1024].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<script", b"<body", b"<head", b"<iframe")):
        return "text/html"
    if b"<svg" in start:
        return "image/svg+xml"
    return _TEXT_BY_ENDING.get(_ending(name), "application/xml" if start.startswith(b"<?xml") else "text/plain")


def _is_utf8(head: bytes) -> bool:
    if b"\x00" in head:
        return False
    try:
        # The head may end within a character.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _size_of_picture(path: Path, format: str) -> tuple[int, int] | None:
    """None if it is not a picture after all. Refuses one that is too large to show, before anything decodes it."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path, formats=(format,)) as picture:
                width, height = picture.size
    except Image.DecompressionBombError:
        raise _too_many_pixels() from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError):
        return None
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        raise _too_many_pixels()
    return (width, height) if width and height else None


def _too_many_pixels() -> Invalid:
    return Invalid(
        "picture_too_large",
        f"The picture has too many pixels: at most {MAX_PIXELS // 1_000_000} million, and {MAX_SIDE} per side. Make it "
        "smaller and upload it again.",
    )
