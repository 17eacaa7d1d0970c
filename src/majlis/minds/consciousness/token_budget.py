"""Estimates tokens, and divides `consciousness.maxTokens` so that no request of a cycle exceeds it (K7).

A token counts as four bytes of UTF-8. That is close for English and a little high for most other scripts.

- System prompt, inbox and past together get three quarters. The rest is for what the cycle itself says and does, except
  for a sixteenth that stays free, because the estimate does not include JSON escapes.
- The inbox gets at most a quarter: long events are truncated. The calls of an earlier attempt, and an orchestrator's
  routing views, get an eighth each.
- Summaries get at most a quarter: they are grouped and shortened beyond that.
- A tool result gets half of what is left, and at least 500 tokens. If the cycle still exceeds its share, its earlier
  turns are truncated so that half of the share is free again.

If the system prompt (memories, instructions) takes more than half, the past still gets a quarter.
"""

from __future__ import annotations

from collections.abc import Iterable

from majlis.models.port import Result, Said, System, Turn, User

BYTES_PER_TOKEN = 4
# Roles, brackets and what marks a call.
_TURN_OVERHEAD = 16
_CALL_OVERHEAD = 48
# A shorter tool result would be of no use.
_MIN_RESULT_BYTES = 2_000


def count(text: str) -> int:
    return -(-size(text) // BYTES_PER_TOKEN)


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def count_turns(turns: Iterable[Turn]) -> int:
    return -(-sum(size_of_turn(turn) for turn in turns) // BYTES_PER_TOKEN)


def size_of_turn(turn: Turn) -> int:
    calls = len(turn.calls) if isinstance(turn, Said) else 0
    pictures = sum(each.tokens for each in turn.pictures) * BYTES_PER_TOKEN if isinstance(turn, User) else 0
    return _TURN_OVERHEAD + _CALL_OVERHEAD * calls + pictures + sum(map(size, contents(turn)))


def contents(turn: Turn) -> list[str]:
    match turn:
        case System() | User():
            return [turn.text]
        case Said():
            return [turn.text, *(text for call in turn.calls for text in (call.id, call.name, call.arguments))]
        case Result():
            return [turn.call_id, turn.content]


def room_for_past(max_tokens: int, around: int) -> int:
    """`around` are the tokens of the system prompt and the inbox."""
    return max(max_tokens // 4, max_tokens * 3 // 4 - around)


def room_for_inbox(max_tokens: int) -> int:
    return max_tokens // 4


def room_below_inbox(max_tokens: int) -> int:
    """The share of the calls of an earlier attempt, and that of the routing views."""
    return max_tokens // 8


def room_for_summaries(max_tokens: int, room: int) -> int:
    return min(max_tokens // 4, room // 2)


def room_for_cycle(max_tokens: int, before: int) -> int:
    """The share of the turns after the inbox; `before` are the tokens up to there."""
    return max(_MIN_RESULT_BYTES // BYTES_PER_TOKEN, _usable(max_tokens) - before)


def bytes_for_answer(max_tokens: int, used: int) -> int:
    return max(_MIN_RESULT_BYTES, (_usable(max_tokens) - used) * BYTES_PER_TOKEN // 2)


def _usable(max_tokens: int) -> int:
    return max_tokens - max_tokens // 16
