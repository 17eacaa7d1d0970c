"""Converts a cycle's turns to their stored form and back, unchanged, so that the next prompt has the same prefix.

Every call is followed by its result, because providers reject a prompt with an unpaired call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Call, Prompt, Result, Said, Turn, User

_UNKNOWN = '{"success":false,"error":"The cycle ended before this call did: its outcome is unknown."}'


def stored(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """`border` is where the last part of a user turn begins."""
    messages = chat_messages(Prompt(tuple(turns)))
    for turn, message in zip(turns, messages, strict=True):
        if isinstance(turn, User) and len(turn.parts) > 1:
            message["border"] = sum(map(len, turn.parts[:-1]))
    return messages


def restored(messages: Iterable[Any]) -> tuple[Turn, ...]:
    """Skips messages in an unknown form: one bad row must not silence the agent (R9)."""
    return paired([turn for message in messages if isinstance(message, dict) for turn in _turn(message)])


def paired(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Puts the results after their calls, in the same order. Adds missing results as unknown, and drops results without
    a call."""
    whole: list[Turn] = []
    open_calls: tuple[Call, ...] = ()
    results: dict[str, Result] = {}
    for turn in turns:
        if isinstance(turn, Result):
            results.setdefault(turn.call_id, turn)
            continue
        whole += _results(open_calls, results)
        whole.append(turn)
        open_calls, results = (turn.calls, {}) if isinstance(turn, Said) else ((), {})
    return (*whole, *_results(open_calls, results))


def _results(calls: Iterable[Call], results: dict[str, Result]) -> list[Result]:
    found = ((call, results.get(call.id)) for call in calls)
    return [Result(call.id, call.name, result.content if result else _UNKNOWN) for call, result in found]


def _turn(message: dict[str, Any]) -> list[Turn]:
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    match message.get("role"):
        case "user" if text:
            border = message.get("border")
            inside = isinstance(border, int) and 0 < border < len(text)
            return [User((text[:border], text[border:]) if inside else (text,))]
        case "assistant":
            calls = tuple(call for each in message.get("tool_calls") or () for call in _call(each))
            return [Said(text, calls)] if text or calls else []
        case "tool" if isinstance(message.get("tool_call_id"), str):
            return [Result(message["tool_call_id"], "", text)]
    return []


def _call(said: Any) -> list[Call]:
    try:
        function = said["function"]
        return [Call(str(said["id"]), str(function["name"]), str(function["arguments"]))]
    except (KeyError, TypeError):
        return []


def closed(turns: Sequence[Turn], summary: str) -> tuple[Turn, ...]:
    """Ends with text of the agent, because some models require alternating turns."""
    last = turns[-1] if turns else None
    if isinstance(last, Said) and last.text and not last.calls:
        return tuple(turns)
    return (*turns, Said(summary or "(nothing said)"))
