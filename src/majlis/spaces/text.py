"""Validates texts that members write."""

from __future__ import annotations

import re

from majlis.errors import Invalid

MAX_BYTES = 64 * 1024

# PostgreSQL cannot store NUL, and lone surrogates are not characters. Other control characters are allowed; prompts and
# terminals escape them (X9).
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def checked_text(text: str, path: str = "text", max_bytes: int = MAX_BYTES) -> str:
    refuse_controls(text, path)
    if not text.strip():
        raise Invalid("empty_text", f"{path} must not be empty.", {"path": path})
    size = len(text.encode())
    if size > max_bytes:
        raise Invalid("text_too_long", f"{path} is too long: {size} bytes; the limit is {max_bytes}.", {"path": path})
    return text


def refuse_controls(text: str, path: str) -> str:
    found = _UNSTORABLE.search(text)
    if found:
        raise Invalid(
            "control_characters",
            f"{path} contains U+{ord(found[0]):04X} at position {found.start()}, which cannot be stored. Remove it.",
            {"path": path},
        )
    return text
