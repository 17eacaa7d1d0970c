"""Names of uploaded files: one safe line without a path."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

MAX_NAME = 128
# Separators of paths, and what HTTP headers and shells read as more than a name.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"<>|*?:]')
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def safe_name(given: str) -> str:
    """The last part of a path, without control, invisible and direction-changing characters."""
    name = re.split(r"[/\\]", given)[-1]
    name = "".join(" " if unicodedata.category(char) == "Zs" else char for char in name)
    name = _UNSAFE.sub("_", "".join(char for char in name if unicodedata.category(char) not in _HIDDEN))
    name = unicodedata.normalize("NFC", name).strip(" .")
    if len(name) > MAX_NAME:
        stem, dot, ending = name.rpartition(".")
        ending = f"{dot}{ending}" if stem and len(ending) <= 16 else ""
        name = name[: MAX_NAME - len(ending)] + ending
    return name or "file"


def disposition(name: str, inline: bool) -> str:
    """The Content-Disposition header."""
    plain = re.sub(r'[^ -~]|["\\%;]', "_", name)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def size_text(size: int) -> str:
    """As in "120 KB"."""
    if size < 1000:
        return f"{size} bytes"
    value, unit = (size / 1000, "KB") if size < 999_500 else (size / 1_000_000, "MB")
    return f"{value:.1f} {unit}" if value < 10 and unit == "MB" else f"{max(1, round(value))} {unit}"
