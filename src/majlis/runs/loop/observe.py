"""Describes a run, its requests and its calls in spans (D7). Called only while `telemetry.listener` is set."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import orjson
import sqlalchemy as sa

from majlis import telemetry
from majlis.agents.config.config import AgentConfig
from majlis.agents.config.model import ModelObject
from majlis.models.port import Answer, Call, Finished, ModelEvent, Prompt, Result, Said, System, Turn, User
from majlis.runs.calls.call import Done
from majlis.runs.run import Run
from majlis.store.tables import deliveries
from majlis.store.transactions import Tx

# Arguments of a call without secrets, as JSON text.
Shown = Callable[[Call], str]
MAX_CAUSES = 32
_CAUSES = (
    sa.select(deliveries.c.trace)
    .where(deliveries.c.run_id == sa.bindparam("run"), deliveries.c.trace.is_not(None))
    .order_by(deliveries.c.created_at, deliveries.c.id)
    .limit(MAX_CAUSES)
)
# Providers that have another name in the conventions.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure-responses": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock-mantle": "aws.bedrock",
    "google": "gcp.gemini",
    "google-cloud": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
# Settings of a model that are attributes under the same name.
_SETTINGS = ("frequency_penalty", "max_tokens", "presence_penalty", "seed", "temperature", "top_p")


def causes(tx: Tx, run: Run) -> list[str]:
    """The spans in which the run's events arrived, and its wait ended."""
    found = [row.trace for row in tx.all(_CAUSES, {"run": run.id})]
    if run.wait is not None and run.wait.trace is not None:
        found.append(run.wait.trace)
    return list(dict.fromkeys(found))


def agent_span(run: Run, caused_by: list[str]) -> telemetry.Span:
    """The span of a run, from claim to end or pause."""
    about = {
        "gen_ai.operation.name": "invoke_agent",
        **_model(run.config),
        **_agent(run),
        "gen_ai.agent.version": str(run.agent_version),
        "majlis.run.attempts": run.attempts,
        "majlis.cause.id": run.cause_id,
    }
    return telemetry.span(f"invoke_agent {run.agent_name}", about, causes=caused_by)


async def observed_request(
    run: Run, prompt: Prompt, shown: Shown, events: AsyncGenerator[ModelEvent]
) -> AsyncGenerator[ModelEvent]:
    """The same events, in a span."""
    with _request_span(run, prompt, shown) as span:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Finished):
                    _tell_answer(span, event.answer, shown)
                else:
                    span.started_to_answer()
                yield event


async def observed_call(run: Run, call: Call, shown: Shown, making: Awaitable[Done]) -> Done:
    with _call_span(run, call) as span:
        done = await making
        if done.failed is not None:
            span.fail(done.failed)
        if telemetry.hears_content():
            span.tell_content({"gen_ai.tool.call.arguments": shown(call), "gen_ai.tool.call.result": done.content})
        return done


def _request_span(run: Run, prompt: Prompt, shown: Shown) -> telemetry.Span:
    model = _model(run.config)
    about = {
        "gen_ai.operation.name": "chat",
        **model,
        **_agent(run),
        "gen_ai.request.stream": True,
        **_server(run.config),
        **_settings(run.config),
    }
    span = telemetry.span(f"chat {model['gen_ai.request.model']}", about, "client")
    if telemetry.hears_content():
        span.tell_content(
            {
                "gen_ai.system_instructions": [_text(turn.text) for turn in prompt.turns if isinstance(turn, System)],
                "gen_ai.input.messages": [
                    _message(turn, shown) for turn in prompt.turns if not isinstance(turn, System)
                ],
                "gen_ai.tool.definitions": [
                    {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema}
                    for tool in prompt.tools
                ],
            }
        )
    return span


def _tell_answer(span: telemetry.Span, answer: Answer, shown: Shown) -> None:
    span.tell({"gen_ai.response.model": answer.model})
    span.tell_tokens(answer.usage.input, answer.usage.cached, answer.usage.output)
    if telemetry.hears_content():
        reason = "tool_call" if answer.calls else "stop"
        said = {**_message(Said(answer.text, answer.calls), shown), "finish_reason": reason}
        span.tell_content({"gen_ai.output.messages": [said]})


def _call_span(run: Run, call: Call) -> telemetry.Span:
    name = call.name[:64]
    about = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call.id[:256],
        "gen_ai.tool.type": "function",
        **_agent(run),
    }
    return telemetry.span(f"execute_tool {name}", about)


def _agent(run: Run) -> dict[str, Any]:
    return {
        "gen_ai.agent.id": run.agent_id,
        "gen_ai.agent.name": run.agent_name,
        "gen_ai.conversation.id": run.trigger_space_id or run.active_space_id,
        "majlis.run.id": run.id,
    }


def _model(config: AgentConfig) -> dict[str, Any]:
    provider, _, name = config.model_name.partition(":")
    return {"gen_ai.provider.name": _PROVIDERS.get(provider, provider), "gen_ai.request.model": name or provider}


def _server(config: AgentConfig) -> dict[str, Any]:
    url = config.model.base_url if isinstance(config.model, ModelObject) else None
    if url is None:
        return {}
    parts = urlsplit(url)
    return {"server.address": parts.hostname, "server.port": parts.port or (443 if parts.scheme == "https" else 80)}


def _settings(config: AgentConfig) -> dict[str, Any]:
    if not isinstance(config.model, ModelObject):
        return {}
    return {f"gen_ai.request.{name}": getattr(config.model.settings, name) for name in _SETTINGS}


def _message(turn: Turn, shown: Shown) -> dict[str, Any]:
    """A turn in the form of the conventions, without pictures."""
    match turn:
        case Said(text, calls):
            said = [_text(text)] if text else []
            made = [
                {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _parsed(shown(call))}
                for call in calls
            ]
            return {"role": "assistant", "parts": [*said, *made]}
        case Result(call_id, _, content):
            return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": content}]}
        case User() | System():
            return {"role": "user", "parts": [_text(turn.text)]}


def _parsed(arguments: str) -> Any:
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "content": text}
