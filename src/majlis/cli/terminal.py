"""What others wrote, made fit for a terminal: a message must not be able to drive it, or to rearrange our lines."""

from __future__ import annotations

import re

# Control characters, surrogates, line and paragraph separators, marks that change the direction of text, and the
# invisible "tag" characters. The joiners U+200C and U+200D stay: many scripts and emoji are written with them.
_DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """Tabs and line feeds stay; whatever else could act on a terminal is shown as its number."""
    return _DANGEROUS.sub(lambda found: _escaped(found[0]), text)


def safe_line(text: str) -> str:
    return safe(text).replace("\n", "\\n").replace("\t", " ")


def _escaped(character: str) -> str:
    """As JSON writes it, so that escaped JSON stays the same JSON."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
