"""What a model writes, as text that every database keeps, and whether a call's arguments are all there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson


def is_whole(arguments: str) -> bool:
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return False
    return True


def plain_text(pieces: Iterable[str]) -> str:
    """Joined, without what no database keeps."""
    return "".join(pieces).replace("\0", "\ufffd")


def word(given: Any) -> str:
    """One line of text; empty for nothing. Raises TypeError for what is neither text nor a number."""
    if isinstance(given, str):
        return given if given.isprintable() else "".join(each for each in given if each.isprintable())
    if given is None:
        return ""
    if isinstance(given, int):
        return str(given)
    raise TypeError(type(given))
