"""How a cycle is stored, read back and summarized.

Turns are stored unchanged, so that the next prompt has the same prefix. Every call is followed by its result, because
providers reject a prompt with an unpaired call. The summary is the text with which the model ends the cycle, so it
needs no extra request; without such text it lists the calls of the cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from majlis.minds.consciousness.scene import Past
from majlis.minds.consciousness.token_budget import count_turns
from majlis.minds.quote import quote_start
from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Call, Prompt, Result, Said, Turn, User

MAX_SUMMARY = 2_000
_MAX_QUOTED = 200
_MAX_SENT = 5
_UNKNOWN = '{"success":false,"error":"The cycle ended before this call did: its outcome is unknown."}'


@dataclass(frozen=True, slots=True)
class Lived:
    """A cycle to store, with a new compaction of the past if there is one."""

    messages: list[dict[str, Any]]
    summary: str
    tokens: int
    past: Past | None = None


def lived(turns: Sequence[Turn], past: Past | None = None) -> Lived:
    """`turns` start with the inbox. Tokens include tool results."""
    # Pictures are shown once; `read_file` shows them again.
    whole = paired(replace(turn, pictures=()) if isinstance(turn, User) else turn for turn in turns)
    last = whole[-1]
    text = last.text.strip() if isinstance(last, Said) and not last.calls else ""
    summary = (text if len(text) <= MAX_SUMMARY else f"{text[: MAX_SUMMARY - 1]}…") or _what_was_done(whole)
    return Lived(stored(whole), summary, count_turns(closed(whole, summary)), past)


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


def closed(turns: Sequence[Turn], summary: str) -> tuple[Turn, ...]:
    """Ends with text of the agent, because some models require alternating turns."""
    last = turns[-1] if turns else None
    if isinstance(last, Said) and last.text and not last.calls:
        return tuple(turns)
    return (*turns, Said(summary or "(nothing said)"))


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


def _what_was_done(turns: Sequence[Turn]) -> str:
    calls = [call for turn in turns if isinstance(turn, Said) for call in turn.calls]
    about = _first_event(turns)
    if not calls:
        return f"I read {about} and did nothing."
    sent = [text for call in calls if call.name == "send_message" for text in _sent(call)]
    counts = Counter(call.name for call in calls)
    did = ", ".join(f"{name} × {times}" for name, times in sorted(counts.items()))
    said = f" I sent {', '.join(quote_start(text, _MAX_QUOTED) for text in sent[:_MAX_SENT])}." if sent else ""
    return f"On {about} I called {did}.{said}"[:MAX_SUMMARY]


def _first_event(turns: Sequence[Turn]) -> str:
    inbox = turns[0].text.splitlines() if isinstance(turns[0], User) else []
    if len(inbox) < 2:
        return "my inbox"
    line = inbox[1] if len(inbox[1]) <= _MAX_QUOTED else f"{inbox[1][:_MAX_QUOTED]}…"
    return f"{inbox[0].partition(',')[0]}, …): {line}"


def _sent(call: Call) -> list[str]:
    try:
        text = orjson.loads(call.arguments or "{}").get("text")
    except (orjson.JSONDecodeError, AttributeError):
        return []
    return [text] if isinstance(text, str) else []
