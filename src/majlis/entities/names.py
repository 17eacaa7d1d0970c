"""Validates names (X9).

Names appear unquoted in prompts, so a name must not look like a prompt line or like another member. Allowed are
letters, marks, digits, emoji, single spaces and a little punctuation. Two names are equal if they are equal after
folding case and width (NFKC). Two entities cannot have names that look alike by Unicode's data either.
"""

from __future__ import annotations

import unicodedata

from majlis.entities.lookalikes import drawn, prototype
from majlis.errors import Invalid

MAX_LENGTH = 64
MAX_KEY = 256
_PUNCTUATION = frozenset("-_.,'&+#/!? ")
# What looks like these could end a name in a prompt and begin something else.
_OURS = frozenset(':;"`[](){}<>=|@*~')
_SKIN_TONES = range(0x1F3FB, 0x1F400)
# Invisible characters that Unicode classifies as letters.
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5")
# Prompts use "You" for the agent itself; "Majlis" is the sender of notices.
_RESERVED = frozenset({"you", "majlis", "system", "none"})


def entity_name(name: str) -> str:
    """The normalized name."""
    normalized = _checked(name, _PUNCTUATION)
    if not _RESERVED.isdisjoint((name_key(normalized), look_key(normalized))):
        raise Invalid("invalid_name", f'The name "{normalized}" is reserved. Choose another.', {"path": "name"})
    return normalized


def space_name(name: str) -> str:
    return _checked(name, _PUNCTUATION | {":", "@"})


def name_key(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def look_key(name: str) -> str:
    """The same for names that look alike."""
    return name_key(drawn(name))[:MAX_KEY]


def _checked(name: str, punctuation: frozenset[str]) -> str:
    normalized = unicodedata.normalize("NFC", name)
    if problem := _problem(normalized, punctuation):
        raise Invalid("invalid_name", f"The name {problem}.", {"path": "name"})
    return normalized


def _problem(name: str, punctuation: frozenset[str]) -> str | None:
    if not 1 <= len(name) <= MAX_LENGTH:
        return f"must have 1 to {MAX_LENGTH} characters; this one has {len(name)}"
    if name != name.strip() or "  " in name:
        return "must not start or end with a space or contain two in a row"
    for character in name:
        if not _allowed(character, punctuation):
            listed = " ".join(sorted(punctuation - {" "}))
            return f"must not contain U+{ord(character):04X}; use letters, digits, emoji, spaces and {listed}"
    if not any(unicodedata.category(character)[0] in "LN" for character in name):
        return "needs at least one letter or digit"
    if len(name_key(name)) > MAX_KEY:
        return "is too long when its compatibility characters are written out"
    if _mixes_alphabets(name):
        return "must not mix letters of two alphabets that look alike in one word"
    # A compatibility character can contain forbidden ones: "⑴" folds to "(1)".
    hidden = [c for c in unicodedata.normalize("NFKC", name) if not _allowed(c, punctuation)]
    return f"must not contain a character that stands for U+{ord(hidden[0]):04X}" if hidden else None


def _allowed(character: str, punctuation: frozenset[str]) -> bool:
    if character in punctuation:
        return True
    if character in _INVISIBLE:
        return False
    category = unicodedata.category(character)
    if category == "Sk":
        return ord(character) in _SKIN_TONES
    if category == "So":
        # Emoji, but no ASCII symbols, and no arrows: prompts use those.
        return ord(character) > 0x7F and "ARROW" not in unicodedata.name(character, "ARROW")
    return category[0] in "LMN" and (character.isascii() or prototype(character) not in _OURS)


def _mixes_alphabets(name: str) -> bool:
    """For example a Cyrillic "О" before "wner"."""
    if name.isascii():
        return False
    for word in name.split():
        letters = [each for each in word if unicodedata.category(each)[0] == "L"]
        latin = [each for each in letters if unicodedata.name(each, "").startswith("LATIN")]
        if latin and any(prototype(each).isascii() for each in letters if each not in latin):
            return True
    return False
