"""Assembles an answer from the chunks that Chat Completions servers send, each in its own dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from majlis.models import port
from majlis.models.chat.wire_format import session_in_chunk
from majlis.models.provider_errors import ProviderErrors
from majlis.store import ids

_MAX_TOKENS = 10**9


@dataclass
class _PartialCall:
    """`index` and `sent_id` are the server's."""

    index: Any
    sent_id: str | None
    id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class AnswerBuilder:
    def __init__(self, prompt: port.Prompt) -> None:
        # Some servers count calls from 0 in every answer, but an id must be unique within a run.
        self._taken = {call.id for turn in prompt.turns if isinstance(turn, port.Said) for call in turn.calls}
        self._text: list[str] = []
        self._calls: list[_PartialCall] = []
        self.usage = port.Usage()
        # Characters of text and arguments so far.
        self.size = 0
        # There was an answer, even if it is empty.
        self._begun = False
        self.finish_reason: str | None = None
        self.session_id: str | None = None
        self.model: str | None = None

    def add(self, chunk: dict[str, Any]) -> Iterator[port.ModelEvent]:
        if "session_id" in chunk or "metadata" in chunk:
            self.session_id = session_in_chunk(chunk) or self.session_id
        if self.model is None and isinstance(chunk.get("model"), str):
            self.model = port.word(chunk["model"])[:200] or None
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.usage = _usage(usage)
        for choice in chunk.get("choices") or ():
            self._begun = True
            # A whole completion has a `message` where a streamed one has a `delta`.
            delta = choice.get("delta") or choice.get("message") or {}
            content = delta.get("content")
            if content:
                text = content if isinstance(content, str) else _joined(content)
                self._text.append(text)
                self.size += len(text)
                yield port.TextDelta(text)
            for position, call in enumerate(delta.get("tool_calls") or ()):
                yield from self._add_call(call, position)
            self.finish_reason = port.word(choice.get("finish_reason")) or self.finish_reason

    def finished(self, errors: ProviderErrors) -> port.Answer:
        calls = tuple(port.Call(call.id, call.name, "".join(call.pieces) or "{}") for call in self._calls)
        problem = self._problem(errors, calls)
        if problem is not None:
            # The request was billed all the same.
            problem.usage = self.usage
            raise problem
        return port.Answer(port.plain_text(self._text), calls, self.usage, self.session_id, self.model)

    def _problem(self, errors: ProviderErrors, calls: Sequence[port.Call]) -> port.ModelFailed | None:
        if not self._begun:
            return errors.broken("it is empty")
        if self.finish_reason == "length" and not all(port.is_json(call.arguments) for call in calls):
            return errors.cut_off()
        if not all(call.name for call in calls):
            return errors.broken("a tool call has no name")
        return errors.filtered() if self.finish_reason == "content_filter" else None

    def _add_call(self, delta: dict[str, Any], position: int) -> Iterator[port.ModelEvent]:
        function = delta.get("function") or {}
        name, given = port.word(function.get("name")), port.word(delta.get("id")) or None
        call = self._continued(delta, name, given)
        if call is None:
            call = _PartialCall(delta.get("index", position), given, self._new_id(given))
            self._calls.append(call)
        at = self._calls.index(call)
        if name and not call.name:
            call.name = name
            yield port.CallStarted(at, call.id, name)
        arguments = function.get("arguments")
        if arguments:
            text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
            call.pieces.append(text)
            self.size += len(text)
            yield port.CallDelta(at, text)

    def _continued(self, delta: dict[str, Any], name: str, given: str | None) -> _PartialCall | None:
        """The call that a delta continues, or None for a new one.

        A new id with a name starts a call even if the index is known: some servers number every call 0."""
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
    """Some servers send text in parts, with reasoning among them."""
    return "".join(part["text"] for part in parts if part.get("type") == "text")


def _usage(usage: dict[str, Any]) -> port.Usage:
    details = usage.get("prompt_tokens_details")
    told = details.get("cached_tokens") if isinstance(details, dict) else None
    read = _count(usage.get("prompt_tokens"))
    cached = _count(told) or _count(usage.get("prompt_cache_hit_tokens"))
    # Cached tokens are part of the input, whatever a server reports.
    return port.Usage(read, min(cached, read), _count(usage.get("completion_tokens")))


def _count(given: Any) -> int:
    """0 for anything that is not a number of tokens: an answer must not fail because of it."""
    whole = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= _MAX_TOKENS
    return int(given) if whole else 0
