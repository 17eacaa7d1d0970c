"""Truncates texts and turns to fit a budget. Truncated JSON stays valid JSON, and every call keeps its result."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN, contents, size, size_of_turn
from majlis.models.port import Call, Result, Said, System, Turn, User
from majlis.shorten import fair_limit, shorten

# Fewer bytes would tell nothing.
_SHORTEST = 40
_MARK = "… (cut)"


def cut_text(text: str, limit: int) -> str:
    """At most `limit` bytes, including the mark."""
    if size(text) <= limit:
        return text
    return _beginning(text, limit - size(_MARK)) + _MARK


def cut_json(text: str, limit: int) -> str:
    """Shortened with its structure (F5). Broken JSON, which a model may write as arguments, becomes one string."""
    if size(text) <= limit:
        return text
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = text
    return orjson.dumps(shorten(value, limit, size)).decode()


def cut_pieces(turns: Sequence[Turn], room: int) -> tuple[Turn, ...]:
    """Cuts the longest texts first, to `room` tokens in all or to the shortest useful beginnings."""
    limit = max(_SHORTEST, _fair_limit(turns, room * BYTES_PER_TOKEN))
    return tuple(_cut(turn, limit) for turn in turns)


def cut_turns(turns: Sequence[Turn], summary: str, cap: int) -> tuple[Turn, ...]:
    """A whole cycle in at most `cap` tokens. Cuts the longest texts first, mostly tool results. If nothing readable
    would be left, the inbox and the summary replace the cycle."""
    room = cap * BYTES_PER_TOKEN
    if sum(map(size_of_turn, turns)) <= room:
        return tuple(turns)
    limit = _fair_limit(turns, room)
    if limit >= _SHORTEST:
        return tuple(_cut(turn, limit) for turn in turns)
    half = max(_SHORTEST, room // 2 - 16)
    first = turns[0]
    about = first.text if isinstance(first, User) else ""
    return User((cut_text(about, half),)), Said(cut_text(summary, half))


def _fair_limit(turns: Sequence[Turn], room: int) -> int:
    sizes = [size(text) for turn in turns for text in contents(turn)]
    return fair_limit(sizes, room - sum(map(size_of_turn, turns)) + sum(sizes))


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
    """Whole characters within `limit` bytes."""
    return text.encode("utf-8", "surrogatepass")[: max(0, limit)].decode("utf-8", "ignore")
