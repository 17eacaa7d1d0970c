"""The form of the Chat Completions protocol: the body of a request, and the answer from the chunks of the response.

Prompts are also stored in this form (X13). Servers send chunks each in their own dialect.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

import orjson

from majlis.agents.config.model import ModelObject, ModelSettings
from majlis.models.port import (
    Answer,
    Call,
    CallDelta,
    CallStarted,
    ModelEvent,
    ModelFailed,
    Picture,
    Prompt,
    Result,
    Said,
    System,
    TextDelta,
    Turn,
    Usage,
    User,
    is_json,
    plain_text,
    word,
)
from majlis.models.provider_errors import ProviderErrors
from majlis.store import ids

_SAME_NAME = (
    "max_tokens", "temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "logit_bias",
    "service_tier",
)  # fmt: skip
# R7: sent only for an agent that has a session, since some servers refuse fields that they do not know.
_SESSION_HEADER, _SESSION_FIELD, _SESSION_MAX_LENGTH = "X-Session-Id", "session_id", 256
_MAX_TOKENS = 10**9
_VISIBLE_ASCII = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")


class Body:
    """Builds request bodies. Everything except the prompt is the same for all requests of a model."""

    def __init__(self, choice: ModelObject) -> None:
        settings = choice.settings
        fixed = {"model": choice.name, "stream": True, "stream_options": {"include_usage": True}}
        self._fixed = fixed | _settings(settings)
        parallel = settings.parallel_tool_calls
        self._with_tools = {} if parallel is None else {"parallel_tool_calls": parallel}
        # The messages are what the mind shows; a config cannot replace them.
        self._extra = {name: value for name, value in (settings.extra_body or {}).items() if name != "messages"}

    def bytes(self, prompt: Prompt) -> bytes:
        """Messages come last, so that two requests share the beginning of their bytes (X8)."""
        body: dict[str, Any] = {**self._fixed}
        # Several servers refuse an empty list of tools, and settings about tools without tools.
        if prompt.tools:
            body |= {"tools": chat_tools(prompt), **self._with_tools}
        body |= self._extra
        if prompt.session_id is not None:
            body["metadata"] = {_SESSION_FIELD: prompt.session_id, **(body.get("metadata") or {})}
        return orjson.dumps({**body, "messages": chat_messages(prompt, prompt.content)})


def chat_messages(prompt: Prompt, content: Mapping[str, bytes] | None = None) -> list[dict[str, Any]]:
    """Without `content` as it is stored and shown: pictures are links."""
    return [_message(turn, content) for turn in prompt.turns]


def chat_tools(prompt: Prompt) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in prompt.tools
    ]


def session_header(session_id: str | None) -> dict[str, str]:
    """Percent-encoded, because headers are ASCII."""
    return {} if session_id is None else {_SESSION_HEADER: quote(session_id, safe=_VISIBLE_ASCII)}


def session_in_headers(headers: Mapping[str, str]) -> str | None:
    given = headers.get(_SESSION_HEADER)
    return _session(unquote(given)) if given else None


def session_in_chunk(chunk: Mapping[str, Any]) -> str | None:
    metadata = chunk.get("metadata")
    return _session(chunk.get(_SESSION_FIELD) or (metadata.get(_SESSION_FIELD) if isinstance(metadata, dict) else None))


def _session(given: Any) -> str | None:
    """Ignores an unusable id instead of failing the answer."""
    usable = isinstance(given, str) and 0 < len(given) <= _SESSION_MAX_LENGTH and given.isprintable()
    return given if usable else None


def _settings(settings: ModelSettings) -> dict[str, Any]:
    given = {name: getattr(settings, name) for name in _SAME_NAME if getattr(settings, name) is not None}
    if settings.stop_sequences is not None:
        given["stop"] = list(settings.stop_sequences)
    thinking = settings.thinking
    if thinking is not None:
        given["reasoning_effort"] = thinking if isinstance(thinking, str) else "medium" if thinking else "none"
    return given


def _message(turn: Turn, content: Mapping[str, bytes] | None) -> dict[str, Any]:
    match turn:
        case System():
            return {"role": "system", "content": turn.text}
        case User(pictures=()):
            return {"role": "user", "content": turn.text}
        case User():
            shown = [part for each in turn.pictures for part in _picture(each, content)]
            return {"role": "user", "content": [{"type": "text", "text": turn.text}, *shown]}
        case Result():
            return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.content}
        case Said(calls=()):
            return {"role": "assistant", "content": turn.text}
        case Said():
            calls = [_call(call) for call in turn.calls]
            return {"role": "assistant", "content": turn.text or None, "tool_calls": calls}


def _picture(picture: Picture, content: Mapping[str, bytes] | None) -> list[dict[str, Any]]:
    url = f"/api/files/{picture.file_id}"
    if content is not None:
        if picture.file_id not in content:
            return []
        url = f"data:image/jpeg;base64,{b64encode(content[picture.file_id]).decode()}"
    label = {"type": "text", "text": picture_label(picture)}
    return [label, {"type": "image_url", "image_url": {"url": url}}]


def picture_label(picture: Picture) -> str:
    return f"[file:{picture.file_id}]"


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


@dataclass
class _PartialCall:
    """`index` and `sent_id` are the server's."""

    index: Any
    sent_id: str | None
    id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class AnswerBuilder:
    def __init__(self, prompt: Prompt) -> None:
        # Some servers count calls from 0 in every answer, but an id must be unique within a run.
        self._taken = {call.id for turn in prompt.turns if isinstance(turn, Said) for call in turn.calls}
        self._text: list[str] = []
        self._calls: list[_PartialCall] = []
        self.usage = Usage()
        # Characters of text and arguments so far.
        self.size = 0
        # There was an answer, even if it is empty.
        self._begun = False
        self.finish_reason: str | None = None
        self.session_id: str | None = None
        self.model: str | None = None

    def add(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        if "session_id" in chunk or "metadata" in chunk:
            self.session_id = session_in_chunk(chunk) or self.session_id
        if self.model is None and isinstance(chunk.get("model"), str):
            self.model = word(chunk["model"])[:200] or None
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
                yield TextDelta(text)
            for position, call in enumerate(delta.get("tool_calls") or ()):
                yield from self._add_call(call, position)
            self.finish_reason = word(choice.get("finish_reason")) or self.finish_reason

    def finished(self, errors: ProviderErrors) -> Answer:
        calls = tuple(Call(call.id, call.name, "".join(call.pieces) or "{}") for call in self._calls)
        problem = self._problem(errors, calls)
        if problem is not None:
            # The request was billed all the same.
            problem.usage = self.usage
            raise problem
        return Answer(plain_text(self._text), calls, self.usage, self.session_id, self.model)

    def _problem(self, errors: ProviderErrors, calls: Sequence[Call]) -> ModelFailed | None:
        if not self._begun:
            return errors.broken("it is empty")
        if self.finish_reason == "length" and not all(is_json(call.arguments) for call in calls):
            return errors.cut_off()
        if not all(call.name for call in calls):
            return errors.broken("a tool call has no name")
        return errors.filtered() if self.finish_reason == "content_filter" else None

    def _add_call(self, delta: dict[str, Any], position: int) -> Iterator[ModelEvent]:
        function = delta.get("function") or {}
        name, given = word(function.get("name")), word(delta.get("id")) or None
        call = self._continued(delta, name, given)
        if call is None:
            call = _PartialCall(delta.get("index", position), given, self._new_id(given))
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


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    told = details.get("cached_tokens") if isinstance(details, dict) else None
    read = _count(usage.get("prompt_tokens"))
    cached = _count(told) or _count(usage.get("prompt_cache_hit_tokens"))
    # Cached tokens are part of the input, whatever a server reports.
    return Usage(read, min(cached, read), _count(usage.get("completion_tokens")))


def _count(given: Any) -> int:
    """0 for anything that is not a number of tokens: an answer must not fail because of it."""
    whole = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= _MAX_TOKENS
    return int(given) if whole else 0
