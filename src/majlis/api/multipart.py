"""Reads an upload from a multipart body, piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from majlis.errors import Invalid, Malformed
from majlis.files.upload import Spool, Upload

FIELD = "file"
_MAX_HEADER = 16 * 1024
_STALLED_SECONDS = 60


@dataclass(slots=True)
class _Parts:
    """Collects what the parser reports in callbacks. Only the first part of the field `file` counts."""

    name: str | None = None
    pieces: list[bytes] = field(default_factory=list)
    in_file: bool = False
    header: bytes = b""
    value: bytes = b""
    disposition: bytes = b""
    ended: bool = False

    def on_part_begin(self) -> None:
        self.disposition, self.in_file = b"", False

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self.header += data[start:end]
        _check_header(self.header)

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self.value += data[start:end]
        _check_header(self.value)

    def on_header_end(self) -> None:
        if self.header.lower() == b"content-disposition":
            self.disposition = self.value
        self.header = self.value = b""

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self.disposition)
        if self.name is None and options.get(b"name") == FIELD.encode():
            self.name = options.get(b"filename", b"file").decode("utf-8", "replace")
            self.in_file = True

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self.in_file:
            self.pieces.append(data[start:end])

    def on_part_end(self) -> None:
        self.in_file = False

    def on_end(self) -> None:
        self.ended = True

    def take(self) -> bytes:
        taken = b"".join(self.pieces)
        self.pieces.clear()
        return taken


async def receive_file(content_type: str, body: AsyncIterator[bytes], spool: Spool) -> Upload:
    """Everything beside the file counts against its limit, so that no body is endless."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise Invalid("invalid_request", f"Send multipart/form-data with the field {FIELD}.", {"path": FIELD})
    parts, beside = _Parts(), 0
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": parts.on_part_begin,
                "on_part_data": parts.on_part_data,
                "on_part_end": parts.on_part_end,
                "on_header_field": parts.on_header_field,
                "on_header_value": parts.on_header_value,
                "on_header_end": parts.on_header_end,
                "on_headers_finished": parts.on_headers_finished,
                "on_end": parts.on_end,
            },
        )
        while (chunk := await _next(body)) is not None:
            parser.write(chunk)
            piece = parts.take()
            beside += len(chunk) - len(piece)
            if beside > 1024 * 1024:
                raise _malformed()
            if piece:
                await spool.add(piece)
        parser.finalize()
    except (FormParserError, UnicodeError):
        raise _malformed() from None
    if parts.name is None:
        raise Invalid("invalid_request", f"The body has no field {FIELD}.", {"path": FIELD})
    if not parts.ended:
        raise _malformed()
    return await spool.finish(parts.name)


async def _next(body: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(_STALLED_SECONDS):
            return await anext(body, None)
    except TimeoutError:
        problem = f"Nothing arrived for {_STALLED_SECONDS} seconds. Upload the file again."
        raise Malformed("upload_stalled", problem) from None


def _check_header(value: bytes) -> None:
    if len(value) > _MAX_HEADER:
        raise _malformed()


def _malformed() -> Malformed:
    return Malformed("malformed_multipart", "The body is not valid multipart/form-data, or is incomplete.")
