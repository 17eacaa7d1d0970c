"""The input of a call: as the model wrote it, as everybody else gets to see it, and as it is given again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from majlis.models.port import Call
from majlis.runs.calls.masks import MASK, masked
from majlis.runs.calls.result import is_too_deep
from majlis.runs.journal import Entry


def read_input(call: Call) -> dict[str, Any] | None:
    """None for what no tool takes: no JSON, no object, or deeper than a database keeps."""
    try:
        given = orjson.loads(call.arguments or "{}")
    except orjson.JSONDecodeError:
        return None
    return given if isinstance(given, dict) and not is_too_deep(given) else None


def shown_input(call: Call, given: dict[str, Any] | None, secret: Mapping[str, Any] | None) -> dict[str, Any]:
    """As the model gave it, but for what the schema calls `secret`. What cannot be read is kept as text, unless a
    secret may be in it."""
    if given is None:
        return {"malformed": MASK if secret is not None else call.arguments[:4096]}
    return masked(secret, given) if secret is not None else given


def given_again(entry: Entry) -> str:
    """The input of a journalled call as the model wrote it."""
    return orjson.dumps(entry.secret if entry.secret is not None else entry.input).decode()
