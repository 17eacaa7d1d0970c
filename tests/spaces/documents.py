"""Small PDF files, made without a PDF library: plain ones, and some that attack their reader."""

from __future__ import annotations

import zlib
from collections.abc import Sequence


def pdf(*pages: str) -> bytes:
    """One line of text a page."""
    contents = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() for text in pages]
    return _document([_stream(each) for each in contents])


def bomb(megabytes: int) -> bytes:
    """A page whose content is a stream that unpacks to so much."""
    content = b"BT /F1 12 Tf (A) Tj ET\n" * (megabytes * 1024 * 1024 // 22)
    packed = zlib.compress(zlib.compress(content, 9), 9)
    return _document([_stream(packed, b"/Filter [/FlateDecode /FlateDecode]")])


def endless() -> bytes:
    """Its tree of pages contains itself."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 99999999 >>"]
    return _file(objects)


def nested(depth: int) -> bytes:
    """An array in an array and so on."""
    return _file([b"<< /Type /Catalog /Pages 2 0 R >>", b"[" * depth + b"]" * depth])


def _document(streams: Sequence[bytes]) -> bytes:
    count = len(streams)
    kids = b" ".join(b"%d 0 R" % (4 + n) for n in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (4 + count + n)
            for n in range(count)
        ),
        *streams,
    ]
    return _file(objects)


def _stream(content: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), more, content)


def _file(objects: Sequence[bytes]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for n, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (n, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return out + end % (size, table, size, len(out))
