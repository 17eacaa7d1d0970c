"""Everything that touches pydantic-ai's own types, so that the rest of the room can be imported without it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

import orjson
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from majlis.models.arguments import is_whole, plain_text, word
from majlis.models.chat.session import session_header
from majlis.models.library.messages import library_messages
from majlis.models.port import Answer, Call, CallDelta, CallStarted, ModelEvent, ModelFailed, Prompt, Usage
from majlis.models.provider_errors import Side


def opened(
    model: Model, prompt: Prompt, settings: Mapping[str, Any], remembered: Mapping[str, ModelResponse]
) -> AbstractAsyncContextManager[StreamedResponse]:
    tools = [
        # Strict mode wants every property required, which few tools are.
        ToolDefinition(name=tool.name, parameters_json_schema=tool.schema, description=tool.description, strict=False)
        for tool in prompt.tools
    ]
    return model_request_stream(
        model,
        library_messages(prompt, remembered),
        model_settings=cast(ModelSettings, _with_session(settings, prompt.session_id)),
        model_request_parameters=ModelRequestParameters(function_tools=tools),
    )


async def events(stream: StreamedResponse) -> AsyncGenerator[ModelEvent]:
    """`index` of the library counts all parts of an answer; ours counts the calls."""
    started: dict[int, int] = {}
    async for event in stream:
        match event:
            case PartStartEvent(part=ToolCallPart() as part) if event.index not in started:
                at = started[event.index] = len(started)
                yield CallStarted(at, part.tool_call_id, part.tool_name)
                if part.args:
                    yield CallDelta(at, _text(part.args))
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str() as arguments)) if arguments:
                yield CallDelta(started[event.index], arguments)


def answer(side: Side, response: ModelResponse) -> Answer:
    text = plain_text(part.content for part in response.parts if isinstance(part, TextPart))
    parts = [part for part in response.parts if isinstance(part, ToolCallPart)]
    calls = tuple(Call(part.tool_call_id, word(part.tool_name), _text(part.args)) for part in parts)
    used = response.usage
    usage = Usage(used.input_tokens, used.cache_read_tokens, used.output_tokens)
    failed = _wrong_with(side, response, calls)
    if failed is not None:
        # It was paid for all the same.
        failed.usage = usage
        raise failed
    return Answer(text, calls, usage)


def _wrong_with(side: Side, response: ModelResponse, calls: tuple[Call, ...]) -> ModelFailed | None:
    if response.finish_reason == "length" and not all(is_whole(call.arguments) for call in calls):
        return side.cut_off()
    if response.finish_reason == "content_filter":
        return side.filtered()
    if response.state != "complete" or (response.finish_reason is None and not response.parts):
        return side.broken("the stream ended early")
    return None


def _with_session(settings: Mapping[str, Any], session_id: str | None) -> Mapping[str, Any]:
    if session_id is None:
        return settings
    return {**settings, "extra_headers": {**settings.get("extra_headers", {}), **session_header(session_id)}}


def _text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments or "{}"
    return orjson.dumps(arguments or {}).decode()
