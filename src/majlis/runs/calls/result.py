"""Tool results as plain JSON of bounded size and depth."""

from __future__ import annotations

import math
from typing import Any

import orjson

from majlis.errors import MajlisError
from majlis.models.port import MAX_DEPTH

MAX_RESULT_CHARACTERS = 64 * 1024
_TOO_DEEP = "[left out: nested too deep]"


def plain(value: Any, limit: int = MAX_RESULT_CHARACTERS) -> Any:
    """A copy, truncated with a note if it is too long. A value that is not JSON is an error."""
    copying = _Copying(limit)
    copy = copying.copy(value, 0)
    text = orjson.dumps(copy).decode()
    if not copying.cut and len(text) <= limit:
        return copy
    return {"truncated": text[:limit], "note": f"The result was longer than {limit} characters. This is its beginning."}


class _Copying:
    """Stops at the limit, so that a huge result costs no more than a long one."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.cut = False

    def copy(self, value: Any, depth: int) -> Any:
        self._room -= 2
        match value:
            case None | bool():
                return value
            case str():
                return self._text(value)
            case int():
                # Most JSON readers cannot hold more than 64 bits.
                return int(value) if -(2**63) <= value < 2**63 else self._text(_digits(value))
            case float():
                return float(value) if math.isfinite(value) else str(value)
            case dict() | list() | tuple() if depth >= MAX_DEPTH:
                return _TOO_DEEP
            case dict():
                return self._object(value, depth)
            case list() | tuple():
                return self._array(value, depth)
        raise MajlisError(
            "not_json", f"The result contains a {type(value).__name__}, which is not JSON. Fix the tool to return JSON."
        )

    def _object(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for key, child in value.items():
            if self._full():
                break
            copy[self._text(key if isinstance(key, str) else str(key))] = self.copy(child, depth + 1)
        return copy

    def _array(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        copy: list[Any] = []
        for child in value:
            if self._full():
                break
            copy.append(self.copy(child, depth + 1))
        return copy

    def _text(self, text: str) -> str:
        if len(text) > max(self._room, 0):
            self.cut = True
            text = text[: max(self._room, 0)]
        self._room -= len(text)
        return clean(text)

    def _full(self) -> bool:
        self.cut = self.cut or self._room <= 0
        return self.cut


def clean(text: str) -> str:
    """Without NUL and lone surrogates, which databases refuse."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def _digits(number: int) -> str:
    # Python refuses to print numbers of many thousand digits.
    return str(number) if number.bit_length() < 10_000 else f"a number of {number.bit_length()} bits"
