"""The body of a Chat Completions request: the prompt, and the config's settings under the protocol's names."""

from __future__ import annotations

from typing import Any

import orjson

from majlis.agents.config.model import ModelObject, ModelSettings
from majlis.models.chat.session import with_session
from majlis.models.chat.wire_format import chat_messages, chat_tools
from majlis.models.port import Prompt

_SAME_NAME = (
    "max_tokens", "temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "logit_bias",
    "service_tier",
)  # fmt: skip


class Body:
    """All but the prompt is the same for every request of a model, and is made once."""

    def __init__(self, choice: ModelObject) -> None:
        self._fixed = {"model": choice.name, "stream": True, "stream_options": {"include_usage": True}}
        self._settings = _settings(choice.settings)
        self._with_tools = _with_tools(choice.settings)
        # The prompt is what the mind shows, whatever a config says.
        self._extra = {name: value for name, value in (choice.settings.extra_body or {}).items() if name != "messages"}

    def bytes(self, prompt: Prompt) -> bytes:
        """The messages last: what two requests share is then the beginning of their bytes, too (X8)."""
        body: dict[str, Any] = {**self._fixed, **self._settings}
        # Several servers refuse an empty list of tools, and settings about tools without tools.
        if prompt.tools:
            body |= {"tools": chat_tools(prompt), **self._with_tools}
        body = with_session(body | self._extra, prompt.session_id)
        return orjson.dumps({**body, "messages": chat_messages(prompt)})


def _settings(settings: ModelSettings) -> dict[str, Any]:
    given = {name: getattr(settings, name) for name in _SAME_NAME if getattr(settings, name) is not None}
    if settings.stop_sequences is not None:
        given["stop"] = list(settings.stop_sequences)
    if settings.thinking is not None:
        given["reasoning_effort"] = _effort(settings.thinking)
    return given


def _with_tools(settings: ModelSettings) -> dict[str, Any]:
    wanted = settings.parallel_tool_calls
    return {} if wanted is None else {"parallel_tool_calls": wanted}


def _effort(thinking: bool | str) -> str:
    if isinstance(thinking, str):
        return thinking
    return "medium" if thinking else "none"
