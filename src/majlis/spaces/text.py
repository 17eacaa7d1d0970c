"""What may stand in a text that a member writes."""

from __future__ import annotations

import re

from majlis.errors import Invalid

MAX_BYTES = 64 * 1024

# PostgreSQL cannot store the one, and the others are no characters at all. Whatever else there is may be said: control
# characters, direction marks and the like are escaped where they would do harm, in prompts and on terminals (X9).
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def checked_text(text: str, path: str = "text", max_bytes: int = MAX_BYTES) -> str:
    refuse_controls(text, path)
    if not text.strip():
        raise Invalid("empty_text", f"{path} is empty.", {"path": path})
    size = len(text.encode())
    if size > max_bytes:
        raise Invalid("text_too_long", f"{path} has {size} bytes; at most {max_bytes} are allowed.", {"path": path})
    return text


def refuse_controls(text: str, path: str) -> str:
    found = _UNSTORABLE.search(text)
    if found:
        raise Invalid(
            "control_characters",
            f"{path} contains U+{ord(found[0]):04X} at position {found.start()}. It cannot be stored; remove it.",
            {"path": path},
        )
    return text
