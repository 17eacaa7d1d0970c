"""Shortens JSON that is too long and keeps its structure (F5).

Keys stay. Long strings and lists become shorter and say how much is missing. A list of messages keeps its newest. If a
value was shortened before, the counts add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import orjson

# Under these keys lists are ordered by time, oldest first.
_BY_TIME = ("history", "messages", "newMessages")
# With less room for each, fewer items or keys are kept instead.
_MIN_ITEM = 60
# Notes may be longer than what they stand for, so a value can miss its limit by a little. It is then cut for less room.
_TRIES = 4
_MAX_KEY = 200
_MORE_KEYS = "…"
# Python refuses to read numbers of thousands of digits.
_LEFT_OUT = re.compile(r"… \((\d{1,15}) characters left out\) …")
_MORE = re.compile(r"… (\d{1,15}) (?:more|earlier) items?")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\r\n")
_MIN_BINARY = 1_000
# Other long words, such as a sequence of genes, have few different characters.
_MIN_ALPHABET = 32

Size = Callable[[str], int]


def shorten(value: Any, limit: int, size: Size = len) -> Any:
    """At most `limit` long as JSON text, or the shortest note of what was left out. `value` is plain JSON and is not
    changed."""
    return _Shortening(size).shorten(value, limit)


def shorten_text(text: str, limit: int) -> str:
    """Its beginning and its end, at most about `limit` characters."""
    if len(text) <= limit:
        return text
    before, missing, after = _parts(text)
    tail = min(len(after), max(limit, 0) // 3)
    head = min(len(before), max(limit, 0) - tail)
    return _cut(before, head, missing, after, tail)


def fair_limit(sizes: Iterable[int], room: int) -> int:
    """The greatest length to which all can be cut so that they fit together. Only the longest are cut."""
    left = sorted(sizes)
    for index, each in enumerate(left):
        rest = len(left) - index
        if each * rest > room:
            return max(0, room // rest)
        room -= each
    return left[-1] if left else 0


def describe_binary(text: str) -> str | None:
    """What to show instead of base64, which is useless to a model and costs thousands of tokens; None for other
    text."""
    if len(text) < _MIN_BINARY:
        return None
    start = text[:100]
    if start.startswith("data:") and ";base64," in start:
        kind, _, content = text[5:].partition(";base64,")
        return _binary(content, kind)
    alphabet = set(text[: 4 * _MIN_BINARY])
    if len(alphabet) >= _MIN_ALPHABET and alphabet <= _BASE64 and set(text) <= _BASE64 and " " not in text:
        return _binary(text)
    return None


def _binary(content: str, kind: str = "") -> str:
    return f"[binary content{f' ({kind})' if kind else ''}, {len(content) * 3 // 4} bytes, not shown]"


class _Shortening:
    def __init__(self, size: Size) -> None:
        self._size = size

    def shorten(self, value: Any, limit: int) -> Any:
        room = limit
        for _ in range(_TRIES):
            found = self.fit(value, room)
            over = self._measure(found) - limit
            if over <= 0:
                return found
            room -= over
        match value:
            case list() if value:
                return [_more(len(value), "more")]
            case dict() if value:
                return {_MORE_KEYS: f"{len(value)} more keys"}
        return found

    def fit(self, value: Any, room: int, key: str = "") -> Any:
        if self._measure(value) <= room:
            return value
        match value:
            case str():
                return self._text(value, room)
            case list() if key in _BY_TIME:
                return self._newest(value, room)
            case list():
                return self._first(value, room)
            case dict():
                return self._object(value, room)
        return value

    def _measure(self, value: Any) -> int:
        return self._size(orjson.dumps(value).decode())

    def _text(self, text: str, room: int) -> str:
        """Its beginning and its end."""
        before, missing, after = _parts(text)
        keep = max(0, min(room, len(before) + len(after)))
        while True:
            tail = min(len(after), keep // 3)
            head = min(len(before), keep - tail)
            cut = _cut(before, head, missing, after, tail)
            taken = self._measure(cut)
            if taken <= room or keep == 0:
                return cut
            keep = max(0, min(keep - 1, keep - (taken - room) // 6))

    def _first(self, items: list[Any], room: int) -> list[Any]:
        items, missing = _without_note(items, -1)
        note = f"… {len(items) + missing} more items"
        inner = room - 2 - self._measure(note) - 1
        kept, taken = 0, 0
        for item in items:
            taken += min(self._measure(item), _MIN_ITEM) + 1
            if taken > inner and kept:
                break
            kept += 1
        missing += len(items) - kept
        shown = self._all_shorter(items[:kept], inner)
        return [*shown, _more(missing, "more")] if missing else shown

    def _newest(self, items: list[Any], room: int) -> list[Any]:
        """Whole as far as they fit, the newest first. One item takes at most half of the room if there are others."""
        items, missing = _without_note(items, 0)
        inner = room - 2 - self._measure(f"… {len(items) + missing} earlier items") - 1
        most = max(_MIN_ITEM, inner // 2) if len(items) > 1 else inner
        shown: list[Any] = []
        for item in reversed(items):
            shorter = self.fit(item, min(most, inner - 1))
            taken = self._measure(shorter) + 1
            if taken > inner and shown:
                break
            shown.insert(0, shorter)
            inner -= taken
        missing += len(items) - len(shown)
        return [_more(missing, "earlier"), *shown] if missing else shown

    def _all_shorter(self, items: list[Any], room: int) -> list[Any]:
        sizes = [self._measure(item) + 1 for item in items]
        limit = fair_limit(sizes, room)
        return [
            item if size <= limit else self.fit(item, max(limit - 1, 0))
            for item, size in zip(items, sizes, strict=True)
        ]

    def _object(self, value: dict[str, Any], room: int) -> dict[str, Any]:
        keys = {key: _short_key(key, n) for n, key in enumerate(value)}
        inner = room - 2 - self._measure(_more(len(value), "more")) - self._measure(_MORE_KEYS) - 2
        kept: list[str] = []
        taken = 0
        for key, short in keys.items():
            taken += self._measure(short) + 2
            if taken + min(self._measure(value[key]), _MIN_ITEM) > inner and kept:
                break
            kept.append(key)
            taken += min(self._measure(value[key]), _MIN_ITEM)
        names = sum(self._measure(keys[key]) + 2 for key in kept)
        sizes = {key: self._measure(value[key]) for key in kept}
        limit = fair_limit(sizes.values(), inner - names)
        shown = {
            keys[key]: value[key] if sizes[key] <= limit else self.fit(value[key], max(limit, 0), key) for key in kept
        }
        if len(kept) < len(value):
            shown[_MORE_KEYS] = f"{len(value) - len(kept)} more keys"
        return shown


def _parts(text: str) -> tuple[str, int, str]:
    """The beginning, how many characters were left out before, and the end."""
    found = _LEFT_OUT.search(text)
    if found is None:
        border = len(text) * 2 // 3
        return text[:border], 0, text[border:]
    return text[: found.start()], int(found[1]), text[found.end() :]


def _cut(before: str, head: int, missing: int, after: str, tail: int) -> str:
    gone = missing + len(before) + len(after) - head - tail
    return f"{before[:head]}… ({gone} characters left out) …{after[len(after) - tail :]}"


def _more(count: int, which: str) -> str:
    return f"… {count} {which} item{'' if count == 1 else 's'}"


def _without_note(items: list[Any], at: int) -> tuple[list[Any], int]:
    note = items[at] if items else None
    found = _MORE.fullmatch(note) if isinstance(note, str) else None
    if found is None:
        return items, 0
    return (items[1:] if at == 0 else items[:-1]), int(found[1])


def _short_key(key: str, n: int) -> str:
    return key if len(key) <= _MAX_KEY else f"{key[:_MAX_KEY]}… ({n})"
