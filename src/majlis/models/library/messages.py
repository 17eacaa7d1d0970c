"""A prompt as pydantic-ai's messages, with cache points where the mind put the borders of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from majlis.models.port import Prompt, Result, Said, System, Turn, User

# Anthropic allows four, and one belongs to the system prompt.
_CACHE_POINTS = 3
# Several providers refuse a prompt without a user's turn, and the classic layout has none.
_NUDGE = User(("Act now.",))


def library_messages(prompt: Prompt, remembered: Mapping[str, ModelResponse]) -> list[ModelMessage]:
    """`remembered` holds answers as the provider gave them, by the ids of their calls."""
    turns = _with_a_user(prompt.turns)
    points = _cache_points(turns)
    messages: list[ModelMessage] = []
    for turn, allowed in zip(turns, points, strict=True):
        if isinstance(turn, Said):
            messages.extend(_said(turn, remembered))
            continue
        if not messages or not isinstance(messages[-1], ModelRequest):
            messages.append(ModelRequest([]))
        request = messages[-1]
        assert isinstance(request, ModelRequest)
        request.parts = [*request.parts, _request_part(turn, allowed)]
    return messages


def _with_a_user(turns: Sequence[Turn]) -> list[Turn]:
    if any(isinstance(turn, User) for turn in turns):
        return list(turns)
    leading = next((at for at, turn in enumerate(turns) if not isinstance(turn, System)), len(turns))
    return [*turns[:leading], _NUDGE, *turns[leading:]]


def _cache_points(turns: Sequence[Turn]) -> list[int]:
    """How many each turn may have: those at the end of the prompt reach furthest and are kept."""
    left, points = _CACHE_POINTS, []
    for turn in reversed(turns):
        wanted = len(turn.parts) - 1 if isinstance(turn, User) else 0
        points.append(min(left, max(wanted, 0)))
        left -= points[-1]
    return points[::-1]


def _said(turn: Said, remembered: Mapping[str, ModelResponse]) -> list[ModelMessage]:
    known = remembered.get(turn.calls[0].id) if turn.calls else None
    if known is not None and [call.id for call in turn.calls] == _call_ids(known):
        return [known]
    parts: list[ModelResponsePart] = [
        *([TextPart(turn.text)] if turn.text else []),
        *(ToolCallPart(call.name, call.arguments, call.id) for call in turn.calls),
    ]
    return [ModelResponse(parts)] if parts else []


def _call_ids(response: ModelResponse) -> list[str]:
    return [part.tool_call_id for part in response.parts if isinstance(part, ToolCallPart)]


def _request_part(turn: System | User | Result, cache_points: int) -> ModelRequestPart:
    match turn:
        case System():
            return SystemPromptPart(turn.text)
        case User():
            return UserPromptPart(_user_content(turn, cache_points))
        case Result():
            return ToolReturnPart(turn.name, turn.content, turn.call_id)


def _user_content(turn: User, cache_points: int) -> str | list[UserContent]:
    if not cache_points:
        return turn.text
    border = len(turn.parts) - cache_points
    content: list[UserContent] = ["".join(turn.parts[:border])]
    for part in turn.parts[border:]:
        content += [CachePoint(), part]
    return content
