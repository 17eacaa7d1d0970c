"""Tool results as plain JSON of bounded size and depth."""

from __future__ import annotations

import math
from typing import Any

from majlis.errors import MajlisError
from majlis.models.port import MAX_DEPTH
from majlis.shorten import describe_binary, shorten

MAX_RESULT_CHARACTERS = 64 * 1024
# How many values, characters, and characters of one text are copied at most. More would be shortened away.
_MAX_VALUES = MAX_RESULT_CHARACTERS // 2
_MAX_COPIED = 64 * MAX_RESULT_CHARACTERS
_MAX_TEXT = 2 * MAX_RESULT_CHARACTERS
_TOO_DEEP = "[left out: nested too deep]"


def plain(value: Any, limit: int = MAX_RESULT_CHARACTERS) -> Any:
    """A copy, shortened with notes if it is too long (F5). A value that is not JSON is an error."""
    return shorten(_Copying().copy(value, 0), limit)


class _Copying:
    """Stops at a limit of its own, so that a huge result costs no more than a long one."""

    def __init__(self) -> None:
        self._values = _MAX_VALUES
        self._room = _MAX_COPIED

    def copy(self, value: Any, depth: int) -> Any:
        self._values -= 1
        match value:
            case None | bool():
                return value
            case str():
                return self._text(value)
            case int():
                # Most JSON readers cannot hold more than 64 bits.
                return int(value) if -(2**63) <= value < 2**63 else _digits(value)
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
            if self._is_full():
                copy["…"] = f"{len(value) - len(copy)} more keys"
                break
            name = clean(key if isinstance(key, str) else str(key))
            self._room -= len(name)
            copy[name] = self.copy(child, depth + 1)
        return copy

    def _array(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        copy: list[Any] = []
        for child in value:
            if self._is_full():
                copy.append(f"… {len(value) - len(copy)} more items")
                break
            copy.append(self.copy(child, depth + 1))
        return copy

    def _is_full(self) -> bool:
        return self._values <= 0 or self._room <= 0

    def _text(self, text: str) -> str:
        text = describe_binary(text) or text
        if len(text) > _MAX_TEXT:
            half = _MAX_TEXT // 2
            text = f"{text[:half]}… ({len(text) - 2 * half} characters left out) …{text[-half:]}"
        self._room -= len(text)
        return clean(text)


def clean(text: str) -> str:
    """The text without NUL and lone surrogates, which databases refuse."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def _digits(number: int) -> str:
    # Python refuses to print numbers of many thousand digits.
    return str(number) if number.bit_length() < 10_000 else f"a number of {number.bit_length()} bits"
