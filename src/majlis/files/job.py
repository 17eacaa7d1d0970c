"""The process that decodes one file: reads it from stdin, writes the result to stdout, and ends.

It has limits on memory and time, no environment, and opens no files, so a hostile file costs its reader an error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from io import BytesIO
from typing import Any

MEMORY_BYTES = 768 * 1024**2
CPU_SECONDS = 20
MAX_CHARACTERS = 2_000_000
# More would not fit into the memory when they are decoded.
MAX_PIXELS = 40_000_000
# Pages after this time are left out.
_SOFT_SECONDS = 12
_WHITE = (255, 255, 255)
_ORIENTATION = 0x0112
# By orientation: Pillow's transpositions.
_UPRIGHT = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}


class Unreadable(Exception):
    """Its text is for the reader."""


def main() -> None:
    _limit()
    out = os.fdopen(os.dup(1), "wb")
    # Libraries may print.
    os.dup2(2, 1)
    job: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    try:
        found, content = _JOBS[job.pop("job")](sys.stdin.buffer.read(), **job)
    except Unreadable as error:
        found, content = {"error": str(error)}, b""
    except MemoryError:
        found, content = {"error": "it needs too much memory"}, b""
    except Exception as error:
        found, content = {"error": f"it is damaged ({type(error).__name__})"}, b""
    out.write(json.dumps(found).encode() + b"\n" + content)
    out.flush()
    # No clean-up, which a hostile file could slow down.
    os._exit(0)


def _limit() -> None:
    try:
        import resource
    except ImportError:
        return
    for which, limit in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        _, hard = resource.getrlimit(which)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        try:
            resource.setrlimit(which, (limit, limit))
        except (OSError, ValueError):
            # Some systems have not all of them. The parent's time limit holds everywhere.
            continue


def pdf_text(content: bytes) -> tuple[dict[str, Any], bytes]:
    import logging

    from pypdf import PdfReader

    logging.disable(logging.CRITICAL)
    reader = PdfReader(BytesIO(content), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("it is protected by a password")
    pages, damaged, length = [], 0, 0
    count = len(reader.pages)
    for n in range(count):
        if time.process_time() > _SOFT_SECONDS or length > MAX_CHARACTERS:
            break
        try:
            text = reader.pages[n].extract_text()
        except Exception:
            text, damaged = "", damaged + 1
        length += len(text)
        pages.append(text.strip())
    whole = "\n\n".join(f"[page {n} of {count}]\n{text}" for n, text in enumerate(pages, 1))
    about = {"pages": count, "read": len(pages), "damaged": damaged, "empty": not any(pages)}
    return about, whole[:MAX_CHARACTERS].encode("utf-8", "replace")


def picture(content: bytes, side: int, format: str, square: bool = False) -> tuple[dict[str, Any], bytes]:
    """A still picture, at most `side` wide and high, upright, without metadata. `square` cuts the middle out and makes
    it exactly this size."""
    from PIL import Image, ImageOps

    with Image.open(BytesIO(content), formats=("PNG", "JPEG", "GIF", "WEBP")) as opened:
        orientation = opened.getexif().get(_ORIENTATION, 1)
        # JPEG files can be decoded at a smaller size.
        opened.draft("RGB", (side, side))
        if opened.width * opened.height > MAX_PIXELS:
            raise Unreadable("it has too many pixels")
        image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    if square:
        image = ImageOps.fit(image, (side, side))
    else:
        image.thumbnail((side, side))
    if orientation in _UPRIGHT:
        image = image.transpose(Image.Transpose(_UPRIGHT[orientation]))
    if format == "JPEG" and image.mode == "RGBA":
        background = Image.new("RGB", image.size, _WHITE)
        background.paste(image, mask=image.getchannel("A"))
        image = background
    out = BytesIO()
    # A new picture, so that nothing of the metadata is copied.
    Image.frombytes(image.mode, image.size, image.tobytes()).save(out, format, quality=85)
    return {"width": image.width, "height": image.height}, out.getvalue()


_JOBS: dict[str, Any] = {"pdf_text": pdf_text, "picture": picture}

if __name__ == "__main__":
    main()
