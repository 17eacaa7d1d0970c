"""Escapes members' text that is shown without quotes, so that it cannot imitate a line of the prompt (X9).

Ordinary text stays as it is. A line that looks like a marker, a name before a message, or part of the block of missed
messages gets a backslash in front, as in Markdown. Invisible and direction-changing characters are escaped. Our own
lines never start with a backslash.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from majlis.entities.lookalikes import drawn, prototype
from majlis.minds.quote import unhidden

_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Blanks, backslashes and Markdown's emphasis, quotes and headings before the first visible character.
_LEAD = re.compile(r"[\s\\*_~`>#]*")
# Letters of two or three bars.
_LONG_BARS = "二三ニミξ"
_MARKER = re.compile(rf"[=═━〓⸗]\s*[=═━〓⸗]|≡|(?:[{_LONG_BARS}]\s*){{3}}")
_BARS = re.compile("EQUAL|IDENTICAL|EQUIVALENT TO|DOUBLE HYPHEN")
_STACKED = re.compile("IDENTICAL|EQUIVALENT TO|TRIGRAM|DIGRAM|HEXAGRAM")
_LABEL = re.compile("[🟢🟩⬤💬🗨🗯🗪🗫💭]")
_SUMMARY = re.compile(r"prev[il]ous\s+context")
_COLONS = ":∶ː։፡፥׃"
# Square brackets in pieces, which Unicode classifies as symbols.
_OPENING, _CLOSING = "⎡⎢⎣", "⎤⎥⎦"
# A name has 64 characters at most.
_LONGEST_NAME = 80


def escape(text: str) -> str:
    if _plain(text):
        return text
    return "\n".join(_line(line) for line in _LINE_ENDS.split(text))


def _plain(text: str) -> bool:
    """Most messages: one line of ASCII that starts with a letter or digit."""
    return text.isascii() and text.isprintable() and text[:1].isalnum() and not _may_begin(text[0])


def _line(line: str) -> str:
    shown = unhidden(line)
    return f"\\{shown}" if shown and _may_begin(shown[0]) and _could_be_ours(shown) else shown


@cache
def _may_begin(character: str) -> bool:
    """A line that starts with it could be ours. False for nearly all letters and digits, so that most lines end
    here."""
    if unicodedata.category(character)[0] not in "LN":
        return True
    return (
        character in _LONG_BARS
        or prototype(unicodedata.normalize("NFKC", character)[0]).casefold() == "p"
        or (_bar(character) != character)
    )


def _could_be_ours(line: str) -> bool:
    seen = unicodedata.normalize("NFKC", line[:400]).casefold()
    start = _LEAD.sub("", _visible(seen), count=1)
    if not start:
        return False
    return _is_marker(start) or bool(_LABEL.match(start)) or _is_summary(start) or _starts_with_name(start)


def _visible(text: str) -> str:
    """Without combining marks and joiners. Braille has its own blank."""
    if text.isascii():
        return text
    seen = (character for character in text if unicodedata.category(character) not in ("Mn", "Me", "Cf"))
    return "".join(seen).replace("\u2800", " ")


def _is_marker(start: str) -> bool:
    """`===`, also in characters that Unicode lists as look-alikes of `=` or names after equality."""
    return bool(_MARKER.match("".join(map(_bar, start[:12]))))


@cache
def _bar(character: str) -> str:
    if character.isascii():
        return character
    name = unicodedata.name(character, "")
    if _STACKED.search(name):
        return "≡"
    return "=" if prototype(character) == "=" or _BARS.search(name) else character


def _is_summary(start: str) -> bool:
    return bool(_SUMMARY.match(drawn(start[:60]).casefold()))


def _starts_with_name(start: str) -> bool:
    """`[Name]:` in any brackets except round and curly ones, which are common in text."""
    if start[0] in "({" or not (start[0] in _OPENING or unicodedata.category(start[0]) in ("Ps", "Pi")):
        return False
    within = start[1 : _LONGEST_NAME + 2]
    closed = next((at for at, each in enumerate(within) if _closes(each)), None)
    after = _LEAD.sub("", within[closed + 1 :], count=1) if closed is not None else ""
    return after != "" and (after[0] in _COLONS or prototype(after[0]).startswith(":"))


def _closes(character: str) -> bool:
    return character in _CLOSING or unicodedata.category(character) in ("Pe", "Pf")
