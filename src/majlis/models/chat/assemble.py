"""An answer, put together from what Chat Completions servers send, each by its own reading of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from majlis.models.arguments import is_whole, plain_text, word
from majlis.models.chat.session import session_in_chunk
from majlis.models.port import Answer, Call, CallDelta, CallStarted, ModelEvent, Prompt, Said, Usage
from majlis.store import ids

_MOST_TOKENS = 10**9


@dataclass
class _Growing:
    """A call that is being written. `index` is what the server calls it by, `sent_id` the id that it gave it."""

    index: Any
    sent_id: str | None
    id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class GrowingAnswer:
    def __init__(self, prompt: Prompt) -> None:
        # Some servers count their calls from 0 in every answer; within a run an id stands for one call.
        self._taken = {call.id for turn in prompt.turns if isinstance(turn, Said) for call in turn.calls}
        self._text: list[str] = []
        self._calls: list[_Growing] = []
        self.usage = Usage()
        # Characters of text and arguments so far.
        self.size = 0
        # Whether there was an answer at all, be it an empty one.
        self.begun = False
        self.finish_reason: str | None = None
        self.session_id: str | None = None

    def add(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        if "session_id" in chunk or "metadata" in chunk:
            self.session_id = session_in_chunk(chunk) or self.session_id
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.usage = _usage(usage)
        for choice in chunk.get("choices") or ():
            self.begun = True
            # A whole completion has a `message` where a streamed one has a `delta`.
            delta = choice.get("delta") or choice.get("message") or {}
            content = delta.get("content")
            if content:
                text = content if isinstance(content, str) else _joined(content)
                self._text.append(text)
                self.size += len(text)
            for position, call in enumerate(delta.get("tool_calls") or ()):
                yield from self._grow(call, position)
            self.finish_reason = word(choice.get("finish_reason")) or self.finish_reason

    def finished(self) -> Answer:
        return Answer(
            plain_text(self._text),
            tuple(Call(call.id, call.name, "".join(call.pieces) or "{}") for call in self._calls),
            self.usage,
            self.session_id,
        )

    @property
    def nameless(self) -> bool:
        return any(not call.name for call in self._calls)

    @property
    def cut_off(self) -> bool:
        """Whether the tokens ran out in the middle of a call, so that its arguments are no JSON."""
        return self.finish_reason == "length" and any(not is_whole(call.arguments) for call in self.finished().calls)

    def _grow(self, delta: dict[str, Any], position: int) -> Iterator[ModelEvent]:
        function = delta.get("function") or {}
        name, given = word(function.get("name")), word(delta.get("id")) or None
        call = self._meant(delta, name, given)
        if call is None:
            call = _Growing(delta.get("index", position), given, self._new_id(given))
            self._calls.append(call)
        at = self._calls.index(call)
        if name and not call.name:
            call.name = name
            yield CallStarted(at, call.id, name)
        arguments = function.get("arguments")
        if arguments:
            text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
            call.pieces.append(text)
            self.size += len(text)
            yield CallDelta(at, text)

    def _meant(self, delta: dict[str, Any], name: str, given: str | None) -> _Growing | None:
        """The call that a piece goes on with, or None for a new one.

        A new id together with a name begins a call even under a known index: some servers number every call 0."""
        if name and given is not None and all(call.sent_id != given for call in self._calls):
            return None
        if "index" in delta:
            return next((call for call in reversed(self._calls) if call.index == delta["index"]), None)
        if given is not None:
            return next((call for call in self._calls if call.sent_id == given), None)
        return None if name or not self._calls else self._calls[-1]

    def _new_id(self, given: str | None) -> str:
        chosen = given if given and given not in self._taken else ids.new("stp")
        self._taken.add(chosen)
        return chosen


def _joined(parts: list[Any]) -> str:
    """Some servers give text in parts, and their thinking among them; only the text is the answer."""
    return "".join(part["text"] for part in parts if part.get("type") == "text")


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    told = details.get("cached_tokens") if isinstance(details, dict) else None
    read = _count(usage.get("prompt_tokens"))
    cached = _count(told) or _count(usage.get("prompt_cache_hit_tokens"))
    # What was cached is a part of what was read, whatever a server adds up.
    return Usage(read, min(cached, read), _count(usage.get("completion_tokens")))


def _count(given: Any) -> int:
    """What is no number of tokens counts as none: an answer is not lost over it."""
    whole = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= _MOST_TOKENS
    return int(given) if whole else 0
