"""What may stand in a text that a member writes."""

from __future__ import annotations

import re

from majlis.errors import Invalid

MAX_BYTES = 64 * 1024

# Control characters but tab and line ends, and surrogates that are no character at all. Neither can be stored on
# both databases and shown on a terminal without harm. Direction marks and the like are text: readers escape them.
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def checked_text(text: str, path: str = "text", max_bytes: int = MAX_BYTES) -> str:
    refuse_controls(text, path)
    if not text.strip():
        raise Invalid("empty_text", f"{path} is empty.", {"path": path})
    size = len(text.encode())
    if size > max_bytes:
        raise Invalid("text_too_long", f"{path} has {size} bytes; at most {max_bytes} are allowed.", {"path": path})
    return text


def refuse_controls(text: str, path: str) -> str:
    found = _UNWANTED.search(text)
    if found:
        raise Invalid(
            "control_characters",
            f"{path} contains U+{ord(found[0]):04X} at position {found.start()}. "
            "Control characters other than tab and line ends are not allowed; remove them.",
            {"path": path},
        )
    return text
