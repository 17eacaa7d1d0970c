"""Normalizes what a model writes into text that every database can store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson


def is_json(arguments: str) -> bool:
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return False
    return True


def plain_text(pieces: Iterable[str]) -> str:
    """Without NUL, which PostgreSQL cannot store."""
    return "".join(pieces).replace("\0", "\ufffd")


def word(given: Any) -> str:
    """One line of text. Raises TypeError for anything but text, a whole number or None."""
    if isinstance(given, str):
        return given if given.isprintable() else "".join(each for each in given if each.isprintable())
    if given is None:
        return ""
    if isinstance(given, int):
        return str(given)
    raise TypeError(type(given))
