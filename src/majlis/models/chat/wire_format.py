"""A prompt in the form of the Chat Completions protocol. Prompts are also stored in this form (X13)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import orjson

from majlis.agents.config.model import ModelObject, ModelSettings
from majlis.models.port import Call, Picture, Prompt, Result, Said, System, Turn, User

_SAME_NAME = (
    "max_tokens", "temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "logit_bias",
    "service_tier",
)  # fmt: skip
# R7: sent only for an agent that has a session, since some servers refuse fields that they do not know.
_SESSION_HEADER, _SESSION_FIELD, _SESSION_MAX_LENGTH = "X-Session-Id", "session_id", 256
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
