"""An answer, put together from what Chat Completions servers send, each by its own reading of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from majlis.models.arguments import is_whole
from majlis.models.port import Answer, Call, CallDelta, CallStarted, ModelEvent, Prompt, Said, Usage
from majlis.models.sessions import session_in_chunk
from majlis.store import ids


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
        self._usage = Usage()
        self.finish_reason: str | None = None
        self.session_id: str | None = None

    def add(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        if "session_id" in chunk or "metadata" in chunk:
            self.session_id = session_in_chunk(chunk) or self.session_id
        usage = chunk.get("usage")
        if usage:
            self._usage = _usage(usage)
        for choice in chunk.get("choices") or ():
            # A whole completion has a `message` where a streamed one has a `delta`.
            delta = choice.get("delta") or choice.get("message") or {}
            content = delta.get("content")
            if content:
                self._text.append(content)
            for position, call in enumerate(delta.get("tool_calls") or ()):
                yield from self._grow(call, position)
            self.finish_reason = choice.get("finish_reason") or self.finish_reason

    def finished(self) -> Answer:
        return Answer(
            "".join(self._text),
            tuple(Call(call.id, call.name, "".join(call.pieces) or "{}") for call in self._calls),
            self._usage,
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
        name = function.get("name") or ""
        call = self._meant(delta, name)
        if call is None:
            call = _Growing(delta.get("index", position), delta.get("id") or None, self._new_id(delta.get("id")))
            self._calls.append(call)
        at = self._calls.index(call)
        if name and not call.name:
            call.name = name
            yield CallStarted(at, call.id, name)
        arguments = function.get("arguments")
        if arguments:
            text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
            call.pieces.append(text)
            yield CallDelta(at, text)

    def _meant(self, delta: dict[str, Any], name: str) -> _Growing | None:
        """The call that a piece goes on with, or None for a new one.

        A new id together with a name begins a call even under a known index: some servers number every call 0."""
        given = delta.get("id") or None
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


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, cached, usage.get("completion_tokens") or 0)
