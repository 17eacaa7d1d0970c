"""How many tokens something is, by a rule of thumb that needs no model's own tokenizer: a token is four bytes of UTF-8.

For English that is close, for most other scripts a little too many, which is the right side to err on. Calls and what
tools answered are counted like words: that is where most of a long life's tokens are.
"""

from __future__ import annotations

from collections.abc import Iterable

from majlis.models.port import Result, Said, System, Turn, User

BYTES_OF_A_TOKEN = 4
# Roles, brackets, what says that it is a call.
_AROUND_A_TURN = 16
_AROUND_A_CALL = 48


def count(text: str) -> int:
    return -(-size(text) // BYTES_OF_A_TOKEN)


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def count_turns(turns: Iterable[Turn]) -> int:
    return -(-sum(size_of_turn(turn) for turn in turns) // BYTES_OF_A_TOKEN)


def size_of_turn(turn: Turn) -> int:
    calls = len(turn.calls) if isinstance(turn, Said) else 0
    return _AROUND_A_TURN + _AROUND_A_CALL * calls + sum(map(size, contents(turn)))


def contents(turn: Turn) -> list[str]:
    match turn:
        case System() | User():
            return [turn.text]
        case Said():
            calls = [text for call in turn.calls for text in (call.id, call.name, call.arguments)]
            return [turn.text, *calls]
        case Result():
            return [turn.call_id, turn.content]


def fair_limit(sizes: Iterable[int], room: int) -> int:
    """The greatest length to which all may be cut so that together they fit: short ones stay, long ones share."""
    left = sorted(sizes)
    for index, each in enumerate(left):
        rest = len(left) - index
        if each * rest > room:
            return max(0, room // rest)
        room -= each
    return left[-1] if left else 0
