"""Finds the members that a text mentions with `@Name`. One rule for every client (W6).

In a person's message `@Name` counts anywhere outside code and quotes. In other messages it counts only at the
beginning, because agents also write about each other. The longest name wins: "@Ann Lee" is not "@Ann". All of it takes
linear time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import EntityType
from majlis.entities.names import MAX_LENGTH, name_key
from majlis.store.tables import entities, members
from majlis.store.transactions import Tx

# Further signs in a text are not looked at.
_MAX_SIGNS = 100
_BETWEEN = " \t\r\n,;:&"
# Part of an address such as ann@example.org or example.org/@ann.
_NOT_BEFORE = "/@._+-"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BACKTICKS = re.compile(r"`+")
_QUOTE = re.compile(r" {0,3}>")
_MEMBERS = (
    sa.select(entities.c.id, entities.c.name, entities.c.name_key, entities.c.type, members.c.role)
    .join(members, members.c.entity_id == entities.c.id)
    .where(members.c.space_id == sa.bindparam("space"), entities.c.deleted_at.is_(None))
)
_NAMED = _MEMBERS.where(entities.c.name_key.in_(sa.bindparam("keys", expanding=True)))
_NAMED_OR_ID = _MEMBERS.where(
    sa.or_(
        entities.c.name_key.in_(sa.bindparam("keys", expanding=True)),
        entities.c.id.in_(sa.bindparam("ids", expanding=True)),
    )
)


def find_mentions(tx: Tx, space_id: str, sender_type: EntityType, text: str) -> list[str]:
    """Ids of the mentioned members, in the order of the text."""
    anywhere = sender_type == "human"
    text = plain_text(text) if anywhere else text.lstrip()
    signs = list(_signs(text)) if anywhere or text.startswith("@") else []
    keys = {key for sign in signs for key, _ in _possible_names(text, sign)}
    if not keys:
        return []
    known = {row.name_key: row.id for row in tx.all(_NAMED, {"space": space_id, "keys": sorted(keys)})}
    found = _anywhere(text, signs, known) if anywhere else _at_the_beginning(text, known)
    return list(dict.fromkeys(found))


def find_named(tx: Tx, space_id: str, given: Sequence[str]) -> dict[str, sa.Row[Any]]:
    """The members with these names or ids, by what was given. Unknown ones are missing."""
    keys = {each: name_key(each.removeprefix("@")) for each in given}
    rows = tx.all(_NAMED_OR_ID, {"space": space_id, "keys": sorted(set(keys.values())), "ids": sorted(set(given))})
    by_key = {row.name_key: row for row in rows} | {row.id: row for row in rows}
    found = {each: by_key.get(each) or by_key.get(key) for each, key in keys.items()}
    return {each: row for each, row in found.items() if row is not None}


def says_name(text: str, name: str) -> bool:
    """True if the text has `@Name` as a whole word: "@Anna" is not "@Ann"."""
    if f"@{name}".lower() not in text.lower():
        return False
    key = name_key(name)
    return any(key == possible for sign in _signs(text) for possible, _ in _possible_names(text, sign))


def plain_text(text: str) -> str:
    """The text without Markdown code and quotes."""
    return "\n\n".join(_without_code_spans("\n".join(lines)) for lines in _paragraphs(text.split("\n")))


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split at blank lines, quotes and fenced code: a code span does not reach beyond them."""
    paragraph: list[str] = []
    fence: str | None = None
    for line in lines:
        opening = _FENCE.match(line)
        if fence is not None:
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                fence = None
            continue
        if opening and not (opening[1][0] == "`" and "`" in line[opening.end() :]):
            fence = opening[1]
        if fence is not None or not line.strip() or _QUOTE.match(line):
            yield paragraph
            paragraph = []
        else:
            paragraph.append(line)
    yield paragraph


def _without_code_spans(text: str) -> str:
    """A code span ends at the next run of as many backticks. A run without such an end is plain text."""
    runs = list(_BACKTICKS.finditer(text))
    ends: dict[int, deque[int]] = defaultdict(deque)
    for n, run in enumerate(runs):
        ends[len(run[0])].append(n)
    kept, at, n = [], 0, 0
    while n < len(runs):
        same = ends[len(runs[n][0])]
        while same and same[0] <= n:
            same.popleft()
        if same:
            kept.append(text[at : runs[n].start()])
            n = same[0]
            at = runs[n].end()
        n += 1
    return " ` ".join([*kept, text[at:]])


def _signs(text: str) -> Iterator[int]:
    """Where an `@` may begin a mention: not in the middle of a word or an address."""
    at = text.find("@")
    for _ in range(_MAX_SIGNS):
        if at < 0:
            return
        before = text[at - 1 : at]
        if not (before.isalnum() or (before and before in _NOT_BEFORE)):
            yield at
        at = text.find("@", at + 1)


def _possible_names(text: str, sign: int) -> Iterator[tuple[str, int]]:
    """The names that the text after an `@` can begin with, as keys, each with its end."""
    line = text[sign + 1 : sign + 2 + 2 * MAX_LENGTH].partition("\n")[0]
    for end in range(1, len(line) + 1):
        if not line[end - 1].isspace() and not _continues_word(line[end : end + 1]):
            yield name_key(line[:end]), sign + 1 + end


def _continues_word(character: str) -> bool:
    return character.isalnum() or (character != "" and unicodedata.category(character)[0] == "M")


def _anywhere(text: str, signs: Iterable[int], known: Mapping[str, str]) -> Iterator[str]:
    for sign in signs:
        match = _longest(text, sign, known)
        if match is not None:
            yield match[0]


def _at_the_beginning(text: str, known: Mapping[str, str]) -> Iterator[str]:
    """As in "@Ann, @Bob and @Cleo: …"."""
    at = 0
    while text.startswith("@", at) and (match := _longest(text, at, known)) is not None:
        yield match[0]
        at = _skip(text, match[1])
        if text[at : at + 4].casefold() == "and ":
            at = _skip(text, at + 4)


def _longest(text: str, sign: int, known: Mapping[str, str]) -> tuple[str, int] | None:
    matches = [(known[key], end) for key, end in _possible_names(text, sign) if key in known]
    return matches[-1] if matches else None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at
