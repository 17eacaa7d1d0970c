"""What others wrote, made harmless for a line of ours: one JSON string on one physical line (X9).

Letters of every script stay readable. What ends a line, hides, turns text around, or passes for our own quotes and
arrows is written as an escape, so the reader still learns exactly what was there. `json.loads` gives back the text.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_CONTROLS = "\x7f-\x9f\u2028\u2029"
# Unicode's format characters (bidi, zero-width, tags …), with the rest of what is never visible. Variation selectors
# up to U+FE0F stay: every second emoji has one.
_INVISIBLE = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\U000110bd\U000110cd\U00013430-\U00013455"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_SURROGATES_AND_PRIVATE = "\ud800-\uf8ff"
# Ordinary typographic quotes and the Hebrew gershayim stay: people write with them.
_LIKE_A_QUOTE = "\u02ba\u02dd\u02ee\u02f6\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2e42\u3003\u301d-\u301f"
_LIKE_A_QUOTE += "\uff02\U0001f676-\U0001f678"
_LIKE_OUR_ARROW = "←↚↜↞↢↤↩↫↰↲↵↹↼↽⇄⇆⇇⇋⇌⇍⇐⇚⇜⇠⇤⇦⇷⇺⇽⍅⍇⏴◀-◅⟵⟸⟻⟽⬅⬐⬑￩\u02ff\u20d6\u20ea\u20ed\u20ee"
# Blocks of arrows that hardly anybody writes with.
_LIKE_OUR_ARROW += "\u2900-\u297f\u2b30-\u2b4f\u2b60-\u2bb8⯇⯬🞀\U0001f800-\U0001f8ff🮴🮵"

_UNSAFE = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SURROGATES_AND_PRIVATE}{_LIKE_A_QUOTE}{_LIKE_OUR_ARROW}]")
# Not the two joiners: half of all emoji, and whole languages, are written with them.
_HIDING = re.compile(f"(?![\u200c\u200d\t])[{_CONTROLS}{_INVISIBLE}{_SURROGATES_AND_PRIVATE}\x00-\x1f]")
_NOT_BARE = re.compile(r'[\x00-\x1f"\\]')


def quote(text: str) -> str:
    if text.isascii():
        # JSON itself escapes what is unsafe in ASCII, all but one.
        return orjson.dumps(text).decode().replace("\x7f", "\\u007f")
    if _UNSAFE.search(text) is None:
        return orjson.dumps(text).decode()
    return _escaped(json.dumps(text, ensure_ascii=False))


def quote_start(text: str, limit: int) -> str:
    """The beginning of a text that stands beside another; whether there is more shows outside the quotes."""
    return quote(text) if len(text) <= limit else f"{quote(text[:limit])}…"


def quote_json(value: Any, limit: int) -> str:
    """JSON on one line. What is too long becomes a quoted beginning, so that what follows is never inside it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    if len(text) <= limit:
        return _escaped(text)
    return f"{quote(text[:limit])}… (cut: the first {limit} of {len(text)} characters)"


def bare(text: str) -> str:
    """As it is if that is one harmless line, else quoted: for what the agent itself keeps."""
    harmless = text and text == text.strip() and not _NOT_BARE.search(text) and not _UNSAFE.search(text)
    return text if harmless else quote(text)


def unhidden(line: str) -> str:
    """A line as it is, but what hides or turns text around is written as an escape: for words outside of quotes."""
    return _HIDING.sub(_escape, line)


def _escaped(dumped: str) -> str:
    """In JSON what is unsafe can only stand inside strings, and there an escape means the same."""
    return _UNSAFE.sub(_escape, dumped)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
