"""Refuses unsafe JSON before it is validated: too deep, too large, or with text that a database rejects."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import orjson

from majlis.agents.config.problems import Path, Problem, refused

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_VALUES = 10_000  # validating a JSON Schema takes about 0.2 ms per value

# Tabs and line breaks are allowed. PostgreSQL rejects NUL, UTF-8 a lone surrogate; the others only help to deceive.
_UNSAFE_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def refuse_unsafe_json(value: object) -> bytes:
    """Returns the value as compact JSON. Not recursive: a hostile value cannot overflow the stack."""
    waiting: list[tuple[Path, object]] = [((), value)]
    checked = 0
    while waiting:
        path, item = waiting.pop()
        if message := _problem(item, path):
            raise refused([Problem(path, message)])
        checked += 1
        waiting.extend(_children(path, item))
        if checked + len(waiting) > MAX_VALUES:
            raise refused([Problem((), f"has more than {MAX_VALUES} values; make it smaller")])
    data = orjson.dumps(value)
    if len(data) > MAX_BYTES:
        raise refused([Problem((), f"is larger than {MAX_BYTES // 1024} KiB as JSON; make it smaller")])
    return data


def _problem(item: object, path: Path) -> str | None:
    match item:
        case dict() | list() if len(path) >= MAX_DEPTH:
            return f"is nested more than {MAX_DEPTH} levels deep; flatten it"
        case dict():
            return next(filter(None, map(_key_problem, item)), None)
        case str() if found := _UNSAFE_TEXT.search(item):
            place = f"at character {found.start() + 1} ({found.group()!a})"
            return f"has a control character or half a surrogate pair {place}; remove it"
        case list() | str() | None | bool():
            return None
        case int():
            return None if -(2**63) <= item < 2**64 else "should be an integer of at most 64 bits"
        case float():
            return None if math.isfinite(item) else "should be a finite number"
    return "should be JSON: an object, an array, text, a number, true, false or null"


def _key_problem(key: object) -> str | None:
    if not isinstance(key, str):
        return "should have only text keys"
    if _UNSAFE_TEXT.search(key):
        return f"has a key with a control character or half a surrogate pair, {key[:40]!a}; remove it"
    return None


def _children(path: Path, item: object) -> Iterator[tuple[Path, object]]:
    match item:
        case dict():
            yield from (((*path, key), child) for key, child in item.items())
        case list():
            yield from (((*path, index), child) for index, child in enumerate(item))
