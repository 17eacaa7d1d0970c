"""External sessions on the wire (R7): a header, and the same in `metadata`, where servers that know of sessions look.

Sent only for an agent that has one, so servers that know of none, and refuse what they do not know, never see it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

HEADER = "X-Session-Id"
FIELD = "session_id"
MAX_LENGTH = 256
# All that can be seen in ASCII, but the sign that begins an escape.
_AS_IT_IS = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")


def session_header(session_id: str | None) -> dict[str, str]:
    """Headers are ASCII: the rest is percent-encoded."""
    return {} if session_id is None else {HEADER: quote(session_id, safe=_AS_IT_IS)}


def with_session(body: dict[str, Any], session_id: str | None) -> dict[str, Any]:
    if session_id is None:
        return body
    return {**body, "metadata": {FIELD: session_id, **(body.get("metadata") or {})}}


def session_in_headers(headers: Mapping[str, str]) -> str | None:
    given = headers.get(HEADER)
    return _checked(unquote(given)) if given else None


def session_in_chunk(chunk: Mapping[str, Any]) -> str | None:
    metadata = chunk.get("metadata")
    return _checked(chunk.get(FIELD) or (metadata.get(FIELD) if isinstance(metadata, Mapping) else None))


def _checked(given: Any) -> str | None:
    """What is no usable id is none: an answer is not lost over it."""
    usable = isinstance(given, str) and 0 < len(given) <= MAX_LENGTH and given.isprintable()
    return given if usable else None
