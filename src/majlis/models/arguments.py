"""A call's arguments are text until a tool reads them; here only whether the text is all there."""

from __future__ import annotations

import orjson


def is_whole(arguments: str) -> bool:
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return False
    return True
