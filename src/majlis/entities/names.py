"""Names that cannot be mistaken for anything else: validated when they are written (X9).

Names stand unquoted in what agents read, so a name must not be able to look like a line of ours, nor like another
member. Rather than listing what is dangerous we list what a name is made of: letters, marks, digits, emoji, single
spaces and a little punctuation. Two names are the same if they are the same after folding case and width (NFKC).
"""

from __future__ import annotations

import unicodedata

from majlis.errors import Invalid

MAX_LENGTH = 64
_PUNCTUATION = frozenset("-_.,'&+#/!? ")
# Letters by category that nobody sees: a name of these, or with one of these, looks like another.
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5")
# "You" is how an agent's own lines begin, "Majlis" is how the gateway itself signs.
_RESERVED = frozenset({"you", "majlis", "system", "none"})


def entity_name(name: str) -> str:
    """The name as it is kept, or Invalid with what is wrong with it."""
    kept = _checked(name, "name", _PUNCTUATION)
    if name_key(kept) in _RESERVED:
        raise Invalid("invalid_name", f'The name "{kept}" is reserved. Choose another.', {"path": "name"})
    return kept


def space_name(name: str) -> str:
    return _checked(name, "name", _PUNCTUATION | {":", "@"})


def name_key(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def _checked(name: str, path: str, punctuation: frozenset[str]) -> str:
    kept = unicodedata.normalize("NFC", name)
    problem = _problem(kept, punctuation)
    if problem:
        raise Invalid("invalid_name", f"The name {problem}.", {"path": path})
    return kept


def _problem(name: str, punctuation: frozenset[str]) -> str | None:
    if not 1 <= len(name) <= MAX_LENGTH:
        return f"must have 1 to {MAX_LENGTH} characters; this one has {len(name)}"
    if name != name.strip() or "  " in name:
        return "must not begin or end with a space, nor have two in a row"
    for character in name:
        if not _allowed(character, punctuation):
            listed = " ".join(sorted(punctuation - {" "}))
            return f"must not contain U+{ord(character):04X}; use letters, digits, emoji, spaces and {listed}"
    if not any(unicodedata.category(character)[0] in "LN" for character in name):
        return "needs at least one letter or digit"
    # A compatibility character can hide forbidden ones ("⑴" folds to "(1)").
    hidden = [c for c in unicodedata.normalize("NFKC", name) if not _allowed(c, punctuation)]
    return f"must not contain a character that stands for U+{ord(hidden[0]):04X}" if hidden else None


def _allowed(character: str, punctuation: frozenset[str]) -> bool:
    if character in punctuation:
        return True
    if character in _INVISIBLE:
        return False
    category = unicodedata.category(character)
    if category in ("So", "Sk"):
        # Emoji and their skin tones; not the marks of ASCII, nor anything that looks like an arrow of ours.
        return ord(character) > 0x7F and "ARROW" not in unicodedata.name(character, "ARROW")
    return category[0] in "LMN"
