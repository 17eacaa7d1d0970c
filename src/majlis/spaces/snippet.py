"""The part of a message around the first match of a search, with the matches marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from typing_extensions import TypedDict

from majlis.spaces.search_query import Term

_BEFORE = 60
_LENGTH = 240
_MAX_TEXT = 65_536


class SnippetPartJson(TypedDict):
    text: str
    match: bool


def snippet(text: str, terms: Sequence[Term]) -> list[SnippetPartJson]:
    """The beginning of the text, if there is no match in the plain text."""
    pattern = _pattern(terms)
    found = pattern.search(text[:_MAX_TEXT]) if pattern else None
    start = _word_start(text, found.start() - _BEFORE) if found else 0
    part = text[start : start + _LENGTH]
    pieces: list[SnippetPartJson] = [{"text": "…", "match": False}] if start else []
    at = 0
    for match in pattern.finditer(part) if pattern else ():
        pieces += [{"text": part[at : match.start()], "match": False}, {"text": match[0], "match": True}]
        at = match.end()
    rest = part[at:] + ("…" if start + _LENGTH < len(text) else "")
    return [piece for piece in [*pieces, SnippetPartJson(text=rest, match=False)] if piece["text"]]


def _pattern(terms: Sequence[Term]) -> re.Pattern[str] | None:
    """The words are escaped and bounded in number, so the pattern takes linear time."""
    forms = [(form, term.open and n == 0) for term in terms for n, form in enumerate(term.forms)]
    # Whole words before incomplete ones, and long ones before their beginnings.
    forms.sort(key=lambda form: (form[1], -len(form[0][-1])))
    ways = [r"[\W_]{1,8}".join(map(re.escape, form)) + ("" if is_open else r"(?![^\W_])") for form, is_open in forms]
    return re.compile(r"(?<![^\W_])(?:" + "|".join(ways) + ")", re.IGNORECASE) if ways else None


def _word_start(text: str, at: int) -> int:
    if at <= 0:
        return 0
    space = text.find(" ", at, at + _BEFORE)
    return space + 1 if space >= 0 else at
