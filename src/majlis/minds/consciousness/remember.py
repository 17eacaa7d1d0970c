"""What is stored of a cycle, and its summary.

The summary is the text with which the model ends the cycle, so it needs no extra request. Without such text it lists
the calls of the cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from majlis.minds.consciousness.scene import Past
from majlis.minds.consciousness.token_budget import count_turns
from majlis.minds.consciousness.transcript import closed, paired, stored
from majlis.minds.quote import quote_start
from majlis.models.port import Call, Said, Turn, User

MAX_SUMMARY = 2_000
_MAX_QUOTED = 200
_MAX_SENT = 5


@dataclass(frozen=True, slots=True)
class Lived:
    """A cycle to store, with a new compaction of the past if there is one."""

    messages: list[dict[str, Any]]
    summary: str
    tokens: int
    past: Past | None = None


def lived(turns: Sequence[Turn], past: Past | None = None) -> Lived:
    """`turns` start with the inbox. Tokens include tool results."""
    whole = paired(turns)
    summary = _closing_words(whole) or _what_was_done(whole)
    return Lived(stored(whole), summary, count_turns(closed(whole, summary)), past)


def _closing_words(turns: Sequence[Turn]) -> str:
    last = turns[-1]
    text = last.text.strip() if isinstance(last, Said) and not last.calls else ""
    return text if len(text) <= MAX_SUMMARY else f"{text[: MAX_SUMMARY - 1]}…"


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
