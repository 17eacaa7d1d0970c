"""Reads a search query: words, "phrases" in quotes, and the filters from:, in:, before: and after:.

A word also finds its other English forms: deploy, deploys, deployed and deploying find each other. The forms are listed
in the query, so both databases find the same with the indexes they have.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime

from majlis.errors import Invalid

MAX_WORDS = 16
_FILTER = re.compile(r'(?:^|(?<=\s))(from|in|before|after):(?:"([^"]*)"|(\S+))', re.IGNORECASE)
_PART = re.compile(r'"([^"]*)"|(\S+)')
_WORD = re.compile(r"[^\W_]+")
_ENGLISH = re.compile(r"[a-z]{4,}")
_ENDINGS = ("", "s", "es", "ed", "ing")


@dataclass(frozen=True)
class Term:
    """One of `forms` must occur: each is a sequence of words. `open`: the last word may be incomplete."""

    forms: tuple[tuple[str, ...], ...]
    open: bool = False


@dataclass(frozen=True)
class Query:
    terms: tuple[Term, ...]
    sender: str | None = None
    space: str | None = None
    before: int | None = None
    after: int | None = None

    @property
    def is_empty(self) -> bool:
        return not self.terms and not any((self.sender, self.space, self.before, self.after))


def parse(text: str) -> Query:
    filters = {found[1].lower(): (found[2] or found[3] or "").strip() for found in _FILTER.finditer(text)}
    return Query(
        tuple(_terms(_FILTER.sub(" ", text))),
        filters.get("from") or None,
        filters.get("in") or None,
        moment(filters.get("before"), "before"),
        moment(filters.get("after"), "after"),
    )


def _terms(text: str) -> list[Term]:
    folded = unicodedata.normalize("NFC", text).casefold()
    found: list[Term] = []
    for part in _PART.finditer(folded):
        phrase = tuple(_WORD.findall(part[1] or ""))
        if phrase:
            found.append(Term((phrase,)))
        found += [Term(_forms(word)) for word in _WORD.findall(part[2] or "")]
    found = found[:MAX_WORDS]
    if found and not folded.rstrip().endswith('"'):
        found[-1] = Term(found[-1].forms, open=True)
    return found


def _forms(word: str) -> tuple[tuple[str, ...], ...]:
    """The word itself first."""
    if not _ENGLISH.fullmatch(word):
        return ((word,),)
    stem = _stem(word)
    forms = [word, *(stem + ending for ending in _ENDINGS)]
    if stem[-1] not in "aeiouy":
        forms += [f"{stem}e", f"{stem}{stem[-1]}ed", f"{stem}{stem[-1]}ing"]
    return tuple((form,) for form in dict.fromkeys(forms))


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and not word.endswith("ss"):
            return stem[:-1] if ending in ("ing", "ed") and stem[-2:-1] == stem[-1] and stem[-1] not in "lsz" else stem
    return word


def moment(text: str | None, path: str) -> int | None:
    """A date, or a time as in a message's `createdAt`. UTC unless it says otherwise."""
    if not text:
        return None
    for form in ("%Y-%m-%d", "%Y-%m", "%Y"):
        try:
            return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp() * 1000)
        except ValueError:
            continue
    with contextlib.suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(text)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    raise Invalid("bad_date", f"{path}: needs a date such as 2026-11-18, not {text[:40]}.", {"path": "q"})
