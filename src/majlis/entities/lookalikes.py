"""Unicode's data of characters that look alike (UTS #39), so that no name or text passes for another (X9).

The data takes 60 ms to load, so it is loaded at the first use.
"""

from __future__ import annotations

import unicodedata
from functools import cache


def drawn(text: str) -> str:
    """The text in the plainest characters that look like it. ASCII stays as it is: `modem` is not `modern`."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text)
    return "".join(each if each.isascii() else prototype(each) for each in plain)


@cache
def prototype(character: str) -> str:
    """The character, or the characters, that Unicode lists as its look-alike."""
    data = _data()
    alike = data.get(character, ())
    # A prototype lists all of its look-alikes; each of these lists only the prototype.
    if len(alike) != 1:
        return character
    listed = alike[0]["c"]
    if len(listed) > 1 or len(data.get(listed, ())) > 1:
        return listed.strip("\u200e\u200f")
    return min(character, listed)


@cache
def _data() -> dict[str, list[dict[str, str]]]:
    from confusable_homoglyphs.confusables import confusables_data

    return confusables_data  # type: ignore[no-any-return]
