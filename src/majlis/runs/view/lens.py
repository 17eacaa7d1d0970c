"""How a request used its budget of tokens (F1): what each block took, what was left out and why, what was cached."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from typing_extensions import TypedDict

from majlis.models.estimate_tokens import estimate
from majlis.models.port import SizeSource

# Blocks begin with a heading, as in `SPACE HISTORY ("Lobby"):`.
_HEADING = re.compile(r"^(?=[A-Z][A-Z ]{2,}(?: \(.*\))?:)", re.MULTILINE)
_TITLE = re.compile(r"([A-Z][A-Z ]{2,})(?: \(.*\))?:")


class PartJson(TypedDict):
    """A block of the prompt, the tools, or the other text of a role. `tokens` is an estimate."""

    name: str
    tokens: int
    cached: int


class LeftOutJson(TypedDict):
    what: str
    how: str
    count: int
    why: str


class PromptBudgetJson(TypedDict):
    """`tokens` is the budget of the request, and `reserved` the part of it for the answer. Null: it had no budget.
    `source` says where the budget comes from: the agent's config, the model's server, the table of known models, the
    default, or the refusal of a longer request."""

    step: int
    tokens: int | None
    source: SizeSource | None
    reserved: int
    parts: list[PartJson]
    leftOut: list[LeftOutJson]


def budget_of(
    request: Mapping[str, Any], lens: Mapping[str, Any] | None, usage: Mapping[str, Any] | None
) -> PromptBudgetJson:
    lens = lens or {}
    return {
        "step": request["step"],
        "tokens": lens.get("tokens"),
        "source": lens.get("source"),
        "reserved": lens.get("reserved", 0),
        "parts": _parts(request, usage or {}),
        "leftOut": lens.get("leftOut", []),
    }


def _parts(request: Mapping[str, Any], usage: Mapping[str, Any]) -> list[PartJson]:
    """The blocks in the order in which they begin. Providers cache the beginning of a request, tools first."""
    pieces = [(name, estimate(text)) for name, text in _pieces(request)]
    whole, counted = sum(tokens for _, tokens in pieces), usage.get("inputTokens") or 0
    cached = usage.get("cachedTokens", 0) * whole // counted if counted else 0
    parts: dict[str, PartJson] = {}
    for name, tokens in pieces:
        part = parts.setdefault(name, {"name": name, "tokens": 0, "cached": 0})
        part["tokens"] += tokens
        part["cached"] += min(tokens, cached)
        cached = max(0, cached - tokens)
    return list(parts.values())


def _pieces(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if request["tools"]:
        yield "tools", orjson.dumps(request["tools"]).decode()
    for message in request["messages"]:
        for text in _HEADING.split(_text(message)):
            title = _TITLE.match(text)
            if text.strip():
                yield title[1] if title else str(message.get("role")), text


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    calls = message.get("tool_calls")
    return f"{content}{orjson.dumps(calls).decode()}" if calls else content
