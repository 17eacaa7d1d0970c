"""Escapes members' text that is shown without quotes, so that it cannot imitate a line of the prompt (X9).

Ordinary text stays as it is. A line that looks like a marker, a name before a message, or part of the block of missed
messages gets a backslash in front, as in Markdown. Invisible and direction-changing characters are escaped. Our own
lines never start with a backslash.
"""

from __future__ import annotations

import re
import unicodedata

from majlis.minds.quote import unhidden

_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Blanks and backslashes before the first visible character.
_LEAD = re.compile(r"[\s\\]*")
_MARKER = re.compile(r"[=꞊═━〓᐀゠⸗⹀≡≣]\s*[=꞊═━〓᐀゠⸗⹀≡≣]|[≡≣]")
_LABEL = re.compile("[🟢🟩⬤💬🗨🗯🗪🗫💭]")
_SUMMARY = re.compile(r"[*_\s]*previous\s+context")
_COLONS = ":∶꞉ː։፡׃"
# A name has 64 characters at most.
_LONGEST_NAME = 80


def escape(text: str) -> str:
    if _plain(text):
        return text
    return "\n".join(_line(line) for line in _LINE_ENDS.split(text))


def _plain(text: str) -> bool:
    """Most messages: one line of ASCII that starts with a letter or digit."""
    return text.isascii() and text.isprintable() and text[:1].isalnum() and not text[:8].lower().startswith("previous")


def _line(line: str) -> str:
    shown = unhidden(line)
    return f"\\{shown}" if _could_be_ours(shown) else shown


def _could_be_ours(line: str) -> bool:
    seen = unicodedata.normalize("NFKC", line[:400]).casefold()
    start = _LEAD.sub("", _visible(seen), count=1)
    return bool(_MARKER.match(start) or _LABEL.match(start) or _SUMMARY.match(start)) or _starts_with_name(start)


def _visible(text: str) -> str:
    """Without combining marks and joiners. Braille has its own blank."""
    seen = (character for character in text if unicodedata.category(character) not in ("Mn", "Me", "Cf"))
    return "".join(seen).replace("\u2800", " ")


def _starts_with_name(start: str) -> bool:
    """`[Name]:` in any brackets except round and curly ones, which are common in text."""
    if not start or start[0] in "({" or unicodedata.category(start[0]) not in ("Ps", "Pi"):
        return False
    within = start[1 : _LONGEST_NAME + 2]
    closed = next((at for at, each in enumerate(within) if unicodedata.category(each) in ("Pe", "Pf")), None)
    return closed is not None and within[closed + 1 :].lstrip()[:1] in tuple(_COLONS)
