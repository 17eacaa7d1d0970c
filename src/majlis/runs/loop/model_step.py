"""Journal entries of model requests: what was shown, what came back, what it cost (J2, X13)."""

from __future__ import annotations

from collections.abc import Callable

from majlis import clock
from majlis.models.chat.wire_format import chat_messages, chat_tools
from majlis.models.port import Answer, Call, ModelFailed, Prompt, Usage
from majlis.runs.journal import Entry, pack_view


def model_entry(n: int, started: int, answer: Answer, shown: Callable[[Call], str], view: bytes) -> Entry:
    """`shown` are a call's arguments without secrets."""
    calls = [{"id": call.id, "name": call.name, "arguments": shown(call)} for call in answer.calls]
    return Entry(
        n=n,
        kind="model",
        started_at=started,
        ended_at=clock.now(),
        output={"text": answer.text, "calls": calls},
        usage=_usage(answer.usage),
        view=view,
    )


def failed_entry(n: int, started: int, error: ModelFailed, view: bytes) -> Entry:
    """With the view, so that people can see what the model was shown when it failed (X13)."""
    return Entry(
        n=n,
        kind="model",
        started_at=started,
        ended_at=clock.now(),
        state="error",
        output={"text": "", "calls": [], "error": error.message},
        usage=_usage(error.usage) if error.usage != Usage() else None,
        view=view,
    )


def view_of(prompt: Prompt, base: int | None, kept: int) -> bytes:
    return pack_view(base, chat_messages(prompt)[kept:], chat_tools(prompt) if base is None else None)


def _usage(usage: Usage) -> dict[str, int]:
    return {"inputTokens": usage.input, "cachedTokens": usage.cached, "outputTokens": usage.output}
