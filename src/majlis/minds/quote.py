"""Quotes members' text as one JSON string on one line, so that it cannot imitate a line of the prompt (X9).

Letters of every script stay readable. Characters that end a line, are invisible, change the text direction, or look
like our quotes and arrows are escaped. `json.loads` returns the original text.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from majlis.shorten import shorten

MAX_JSON = 4_000
# Per message, so that no text can pull a whole history into one line.
MAX_REFERENCES = 3
_CONTROLS = "\x7f-\x9f\u2028\u2029"
# Unicode's format characters (bidi, zero-width, tags …) and other invisible ones, except variation selectors up to
# U+FE0F, which many emoji need.
_INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\U000110bd\U000110cd\U00013430-\U00013455"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_SURROGATES_AND_PRIVATE = "\ud800-\uf8ff"
# Ordinary typographic quotes and the Hebrew gershayim stay.
_LIKE_A_QUOTE = "\u02ba\u02dd\u02ee\u02f6\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2e42\u3003\u301d-\u301f"
_LIKE_A_QUOTE += "\uff02\U0001f676-\U0001f678"
_LIKE_OUR_ARROW = "←↚↜↞↢↤↩↫↰↲↵↹↼↽⇄⇆⇇⇋⇌⇍⇐⇚⇜⇠⇤⇦⇷⇺⇽⍅⍇⏴◀-◅⟵⟸⟻⟽⬅⬐⬑￩\u02ff\u20d6\u20ea\u20ed\u20ee"
# Blocks of rare arrows.
_LIKE_OUR_ARROW += "\u2900-\u297f\u2b30-\u2b4f\u2b60-\u2bb8⯇⯬🞀\U0001f800-\U0001f8ff🮴🮵"

_UNSAFE = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SURROGATES_AND_PRIVATE}{_LIKE_A_QUOTE}{_LIKE_OUR_ARROW}]")
# Except the two joiners, which many emoji and whole languages need.
_HIDING = re.compile(f"(?![\u200c\u200d\t])[{_CONTROLS}{_INVISIBLE}{_SURROGATES_AND_PRIVATE}\x00-\x1f]")
_NOT_BARE = re.compile(r'[\x00-\x1f"\\]')
_REFERENCE = re.compile(r"(?:(?<!\w)msg:|/messages/)(msg_[0-9a-z]{16})(?!\w)")


def quote(text: str) -> str:
    if text.isascii():
        # JSON escapes all unsafe ASCII characters except this one.
        return orjson.dumps(text).decode().replace("\x7f", "\\u007f")
    if _UNSAFE.search(text) is None:
        return orjson.dumps(text).decode()
    return _escaped(json.dumps(text, ensure_ascii=False))


def quote_start(text: str, limit: int) -> str:
    """Truncated text ends with an ellipsis outside the quotes."""
    return quote(text) if len(text) <= limit else f"{quote(text[:limit])}…"


def quote_json(value: Any, limit: int = MAX_JSON, note: bool = True) -> str:
    """JSON on one line, shortened with its structure (F5). Without `note` only its beginning, quoted, so that the text
    after it cannot become part of it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if len(text) > limit and not note:
        return quote_start(text, limit)
    if len(text) > limit:
        text = json.dumps(shorten(json.loads(text), limit), ensure_ascii=False, separators=(",", ":"))
    return _escaped(text)


def bare(text: str) -> str:
    """Unquoted if it is one safe line. For text that the agent itself stored."""
    harmless = text and text == text.strip() and not _NOT_BARE.search(text) and not _UNSAFE.search(text)
    return text if harmless else quote(text)


def unhidden(line: str) -> str:
    """Escapes only invisible and direction-changing characters. For text outside quotes."""
    return _HIDING.sub(_escape, line)


def _escaped(dumped: str) -> str:
    """In JSON, unsafe characters occur only inside strings, where an escape means the same."""
    return _UNSAFE.sub(_escape, dumped)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def references(text: str) -> list[str]:
    """X12: ids of the messages that a text refers to by `msg:<id>` or permalink, in order and without repeats."""
    if "msg_" not in text:
        return []
    return list(dict.fromkeys(_REFERENCE.findall(text)))[:MAX_REFERENCES]
