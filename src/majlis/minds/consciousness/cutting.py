"""Making things shorter where they would not fit, so that it shows and so that they stay what they are: a JSON result
is still JSON, and every call keeps its result."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from majlis.minds.consciousness.tokens import BYTES_OF_A_TOKEN, contents, fair_limit, size, size_of_turn
from majlis.models.port import Call, Result, Said, System, Turn, User

# Below this a beginning tells nothing.
_SHORTEST = 40
_MARK = "… (cut)"


def cut_text(text: str, limit: int) -> str:
    """At most `limit` bytes, the mark included."""
    if size(text) <= limit:
        return text
    return _beginning(text, limit - size(_MARK)) + _MARK


def cut_json(text: str, limit: int) -> str:
    """An object that holds the beginning; escapes count, so it may have to be shorter than it first looks."""
    if size(text) <= limit:
        return text
    room = limit
    while True:
        cut = orjson.dumps({"truncated": _beginning(text, room), "note": f"cut from {len(text)} characters"}).decode()
        if size(cut) <= limit or room <= 0:
            return cut
        room = min(room - 1, room * limit // size(cut))


def cut_turns(turns: Sequence[Turn], summary: str, cap: int) -> tuple[Turn, ...]:
    """A whole cycle in at most `cap` tokens: whatever is longest is cut first, which is mostly what tools answered. If
    nothing readable were left, what it was about and how the agent summed it up stand for it."""
    room = cap * BYTES_OF_A_TOKEN
    if sum(map(size_of_turn, turns)) <= room:
        return tuple(turns)
    pieces = [size(text) for turn in turns for text in contents(turn)]
    around = sum(map(size_of_turn, turns)) - sum(pieces)
    limit = fair_limit(pieces, room - around)
    if limit >= _SHORTEST:
        return tuple(_cut(turn, limit) for turn in turns)
    half = max(_SHORTEST, room // 2 - 16)
    first = turns[0]
    about = first.text if isinstance(first, User) else ""
    return User((cut_text(about, half),)), Said(cut_text(summary, half))


def _cut(turn: Turn, limit: int) -> Turn:
    match turn:
        case System():
            return turn
        case User():
            return turn if size(turn.text) <= limit else User((cut_text(turn.text, limit),))
        case Said():
            calls = tuple(Call(each.id, each.name, cut_json(each.arguments, limit)) for each in turn.calls)
            return Said(cut_text(turn.text, limit), calls)
        case Result():
            return Result(turn.call_id, turn.name, cut_json(turn.content, limit))


def _beginning(text: str, limit: int) -> str:
    """Whole characters within so many bytes."""
    return text.encode("utf-8", "surrogatepass")[: max(0, limit)].decode("utf-8", "ignore")
