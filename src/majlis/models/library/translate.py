"""Translates between our port and pydantic-ai: prompts to messages, streams to events, exceptions to ModelFailed (J7).

Only this file imports pydantic-ai's types, so that the rest of the folder can be imported without the exceptions.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import orjson
from pydantic_ai import exceptions, messages
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from majlis.models import port
from majlis.models.chat.client import Deadlines
from majlis.models.chat.wire_format import picture_label, session_header
from majlis.models.provider_errors import ProviderErrors, words_of

# Anthropic allows four; one is used for the system prompt.
_CACHE_POINTS = 3
# Several providers reject a prompt without a user turn, and the classic layout has none.
_NUDGE = port.User(("Act now.",))


@asynccontextmanager
async def opened(
    model: Model,
    prompt: port.Prompt,
    settings: Mapping[str, Any],
    remembered: Mapping[str, messages.ModelResponse],
    deadlines: Deadlines,
) -> AsyncIterator[StreamedResponse]:
    tools = [
        # Strict mode would require every property.
        ToolDefinition(name=tool.name, parameters_json_schema=tool.schema, description=tool.description, strict=False)
        for tool in prompt.tools
    ]
    stream = model_request_stream(
        model,
        library_messages(prompt, remembered),
        model_settings=cast(ModelSettings, _with_session(settings, prompt.session_id)),
        model_request_parameters=ModelRequestParameters(function_tools=tools),
    )
    async with AsyncExitStack() as stack:
        async with deadlines.next():
            answer = await stack.enter_async_context(stream)
        yield answer


async def events(stream: StreamedResponse, deadlines: Deadlines) -> AsyncGenerator[port.ModelEvent]:
    """The library's `index` counts all parts of an answer; ours counts the calls."""
    started: dict[int, int] = {}
    parts = aiter(stream)
    while True:
        async with deadlines.next():
            event = await anext(parts, None)
        if event is None:
            return
        deadlines.begun = True
        match event:
            case messages.PartStartEvent(part=messages.ToolCallPart() as part) if event.index not in started:
                at = started[event.index] = len(started)
                yield port.CallStarted(at, part.tool_call_id, part.tool_name)
                if part.args:
                    yield port.CallDelta(at, _text(part.args))
            case messages.PartStartEvent(part=messages.TextPart(content=text)) if text:
                yield port.TextDelta(text)
            case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)) if text:
                yield port.TextDelta(text)
            case messages.PartDeltaEvent(delta=messages.ToolCallPartDelta(args_delta=str() as arguments)) if arguments:
                yield port.CallDelta(started[event.index], arguments)


def answer(errors: ProviderErrors, response: messages.ModelResponse) -> port.Answer:
    text = port.plain_text(part.content for part in response.parts if isinstance(part, messages.TextPart))
    parts = [part for part in response.parts if isinstance(part, messages.ToolCallPart)]
    calls = tuple(port.Call(part.tool_call_id, port.word(part.tool_name), _text(part.args)) for part in parts)
    used = response.usage
    usage = port.Usage(used.input_tokens, used.cache_read_tokens, used.output_tokens)
    failed = _problem(errors, response, calls)
    if failed is not None:
        # The request was billed all the same.
        failed.usage = usage
        raise failed
    return port.Answer(text, calls, usage, model=response.model_name)


def _problem(
    errors: ProviderErrors, response: messages.ModelResponse, calls: tuple[port.Call, ...]
) -> port.ModelFailed | None:
    if response.finish_reason == "length" and not all(port.is_json(call.arguments) for call in calls):
        return errors.cut_off()
    if response.finish_reason == "content_filter":
        return errors.filtered()
    if response.state != "complete" or (response.finish_reason is None and not response.parts):
        return errors.broken("the stream ended early")
    return None


def _with_session(settings: Mapping[str, Any], session_id: str | None) -> Mapping[str, Any]:
    if session_id is None:
        return settings
    return {**settings, "extra_headers": {**settings.get("extra_headers", {}), **session_header(session_id)}}


def _text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments or "{}"
    return orjson.dumps(arguments or {}).decode()


def failure(errors: ProviderErrors, error: Exception) -> port.ModelFailed:
    match error:
        case exceptions.ModelAPIError():
            return _of_provider(errors, error)
        case exceptions.ContentFilterError():
            return errors.filtered()
        case exceptions.UnexpectedModelBehavior():
            return errors.broken("a chunk has an unknown format")
        case exceptions.UserError() | ValueError() if not errors.key.value and errors.key.variable:
            return errors.misconfigured(f"set {errors.key.variable} in the environment of Majlis, then restart it.")
        case exceptions.UserError() | ValueError() | ImportError():
            return errors.misconfigured(str(error))
    return port.ModelFailed(
        f"{errors.name} failed in an unexpected way ({type(error).__name__}).", False, "model_error"
    )


def _of_provider(errors: ProviderErrors, error: exceptions.ModelAPIError) -> port.ModelFailed:
    failed = _kind_of(errors, error)
    failed.detail = failed.detail or errors.reason(_reason(getattr(error, "body", None)))
    return failed


def _kind_of(errors: ProviderErrors, error: exceptions.ModelAPIError) -> port.ModelFailed:
    status = error.status_code if isinstance(error, exceptions.ModelHTTPError) else None
    match error:
        case exceptions.ModelAuthenticationError():
            return errors.unauthorized(status or 401)
        case exceptions.ModelNotFoundError():
            return errors.not_found()
        case exceptions.ModelContextWindowExceededError():
            return errors.too_long()
        case exceptions.ModelQuotaExceededError():
            return errors.out_of_quota()
        case exceptions.ModelRateLimitError():
            return errors.rate_limited(error.retry_after)
        case exceptions.ModelTimeoutError():
            return errors.timed_out()
        case exceptions.ModelRequestTimeout():
            return errors.timed_out(error.timeout)
        case exceptions.ModelConnectionError(phase="read"):
            return errors.broken("the connection was lost")
        case exceptions.ModelConnectionError():
            return errors.unreachable(str(error.__cause__ or ""))
        case exceptions.ModelUnavailableError() | exceptions.ModelServerError():
            return errors.unavailable(status, error.retry_after)
        case exceptions.ModelHTTPError():
            return errors.of_status(error.status_code, _reason(error.body), error.retry_after)
        case exceptions.ModelRequestRejectedError():
            return errors.refused(_reason(error.body))
    return errors.broken("it has an unknown format")


def _reason(body: object) -> str:
    return words_of(body) if isinstance(body, dict) else ""


def library_messages(
    prompt: port.Prompt, remembered: Mapping[str, messages.ModelResponse]
) -> list[messages.ModelMessage]:
    """`remembered` holds the provider's own answers, by the ids of their calls."""
    turns = _with_a_user(prompt.turns)
    points = _cache_points(turns)
    found: list[messages.ModelMessage] = []
    for turn, allowed in zip(turns, points, strict=True):
        if isinstance(turn, port.Said):
            found.extend(_said(turn, remembered))
            continue
        if not found or not isinstance(found[-1], messages.ModelRequest):
            found.append(messages.ModelRequest([]))
        request = found[-1]
        assert isinstance(request, messages.ModelRequest)
        request.parts = [*request.parts, _request_part(turn, allowed, prompt.content)]
    return found


def _with_a_user(turns: Sequence[port.Turn]) -> list[port.Turn]:
    if any(isinstance(turn, port.User) for turn in turns):
        return list(turns)
    leading = next((at for at, turn in enumerate(turns) if not isinstance(turn, port.System)), len(turns))
    return [*turns[:leading], _NUDGE, *turns[leading:]]


def _cache_points(turns: Sequence[port.Turn]) -> list[int]:
    """How many cache points each turn gets. Those at the end of the prompt cover the longest prefix."""
    left, points = _CACHE_POINTS, []
    for turn in reversed(turns):
        wanted = len(turn.parts) - 1 if isinstance(turn, port.User) else 0
        points.append(min(left, max(wanted, 0)))
        left -= points[-1]
    return points[::-1]


def _said(turn: port.Said, remembered: Mapping[str, messages.ModelResponse]) -> list[messages.ModelMessage]:
    known = remembered.get(turn.calls[0].id) if turn.calls else None
    if known is not None:
        ids = [part.tool_call_id for part in known.parts if isinstance(part, messages.ToolCallPart)]
        if ids == [call.id for call in turn.calls]:
            return [known]
    parts: list[messages.ModelResponsePart] = [
        *([messages.TextPart(turn.text)] if turn.text else []),
        *(messages.ToolCallPart(call.name, call.arguments, call.id) for call in turn.calls),
    ]
    return [messages.ModelResponse(parts)] if parts else []


def _request_part(
    turn: port.System | port.User | port.Result, cache_points: int, pictures: Mapping[str, bytes]
) -> messages.ModelRequestPart:
    match turn:
        case port.System():
            return messages.SystemPromptPart(turn.text)
        case port.User():
            return messages.UserPromptPart(_user_content(turn, cache_points, pictures))
        case port.Result():
            return messages.ToolReturnPart(turn.name, turn.content, turn.call_id)


def _user_content(
    turn: port.User, cache_points: int, pictures: Mapping[str, bytes]
) -> str | list[messages.UserContent]:
    shown: list[messages.UserContent] = []
    for each in turn.pictures:
        if each.file_id in pictures:
            shown += [picture_label(each), messages.BinaryContent(pictures[each.file_id], media_type="image/jpeg")]
    if not cache_points:
        return [turn.text, *shown] if shown else turn.text
    border = len(turn.parts) - cache_points
    content: list[messages.UserContent] = ["".join(turn.parts[:border])]
    for part in turn.parts[border:]:
        content += [messages.CachePoint(), part]
    return content + shown
