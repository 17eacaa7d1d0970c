"""What members write, without quotes around it, and yet never a line of ours (X9).

Roles show words as they are: an ordinary text is not changed by a character. A line by which a text could pass for a
marker, for somebody's name before their words, or for a part of the block is marked with a backslash, as Markdown
would; what hides or turns text around is written as an escape. Lines of ours never begin with a backslash.
"""

from __future__ import annotations

import re
import unicodedata

from majlis.minds.quote import unhidden

_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# What may stand before the first character that one sees: blanks and our own backslash.
_LEAD = re.compile(r"[\s\\]*")
_MARKER = re.compile(r"[=꞊═━〓᐀゠⸗⹀≡≣]\s*[=꞊═━〓᐀゠⸗⹀≡≣]|[≡≣]")
_LABEL = re.compile("[🟢🟩⬤💬🗨🗯🗪🗫💭]")
_SUMMARY = re.compile(r"[*_\s]*previous\s+context")
_COLONS = ":∶꞉ː։፡׃"
# A name has 64 characters at most.
_LONGEST_NAME = 80


def harmless(text: str) -> str:
    """One text, its lines ending in nothing but newlines."""
    if _plain(text):
        return text
    return "\n".join(_line(line) for line in _LINE_ENDS.split(text))


def _plain(text: str) -> bool:
    """Most of what is said: one line of letters that begins with one."""
    return text.isascii() and text.isprintable() and text[:1].isalnum() and not text[:8].lower().startswith("previous")


def _line(line: str) -> str:
    shown = unhidden(line)
    return f"\\{shown}" if _could_be_ours(shown) else shown


def _could_be_ours(line: str) -> bool:
    seen = unicodedata.normalize("NFKC", line[:400]).casefold()
    start = _LEAD.sub("", _visible(seen), count=1)
    return bool(_MARKER.match(start) or _LABEL.match(start) or _SUMMARY.match(start)) or _names_somebody(start)


def _visible(text: str) -> str:
    """Without marks that are drawn over the letter before them, at the beginning of a line over nothing, and without
    joiners, which words need and which nobody sees between two signs. Braille has a blank of its own."""
    seen = (character for character in text if unicodedata.category(character) not in ("Mn", "Me", "Cf"))
    return "".join(seen).replace("\u2800", " ")


def _names_somebody(start: str) -> bool:
    """`[Name]:` in any brackets but round and curly ones, which people write with."""
    if not start or start[0] in "({" or unicodedata.category(start[0]) not in ("Ps", "Pi"):
        return False
    within = start[1 : _LONGEST_NAME + 2]
    closed = next((at for at, each in enumerate(within) if unicodedata.category(each) in ("Pe", "Pf")), None)
    return closed is not None and within[closed + 1 :].lstrip()[:1] in tuple(_COLONS)
