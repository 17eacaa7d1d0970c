"""openai-agents with its own session storage, in `.venv-peers`: `openai_agents PLACE`.

An agent whose model calls a tool that stores the answer, and then ends; a session for each agent, of which the last
items are read. On SQLite it is `SQLiteSession`, which is faster here than `AsyncSQLiteSession`; on PostgreSQL it is the
package's extension `SQLAlchemySession` with asyncpg. Durability is its default: a commit when it saves items.

It does less than Majlis: no queue that survives a crash, no run that continues after a crash, no events for other
clients. In its favour: tracing is off, the agent has one tool, and its request is not turned into bytes.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, SessionSettings, SQLiteSession, Usage  # type: ignore[import-not-found]
from agents.extensions.memory import SQLAlchemySession  # type: ignore[import-not-found]
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from sqlalchemy.ext.asyncio import create_async_engine

from bench.peers.same_work import AGENTS, TEXT, WINDOW, is_postgres, open_messages, run, serve, side_by_side


class TalkingModel(Model):  # type: ignore[misc]
    """Says one sentence with a tool and, once that was sent, nothing more."""

    def __init__(self) -> None:
        self._calls = 0

    async def get_response(self, system_instructions: Any, input: list[Any], *rest: Any, **more: Any) -> Any:
        if input[-1].get("type") == "function_call_output":
            text = ResponseOutputText(annotations=[], text="", type="output_text")
            answer = ResponseOutputMessage(
                id="msg_1", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            self._calls += 1
            answer = ResponseFunctionToolCall(
                arguments=f'{{"text":"{TEXT}"}}',
                call_id=f"call_{self._calls}",
                name="send_message",
                type="function_call",
            )
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def open_sessions(place: str) -> list[Any]:
    names = [f"agent-{number}" for number in range(AGENTS)]
    if is_postgres(place):
        engine = create_async_engine(place.replace("postgresql:", "postgresql+asyncpg:", 1))
        return [SQLAlchemySession(name, engine=engine, create_tables=True) for name in names]
    return [SQLiteSession(name, str(Path(place) / "sessions.db")) for name in names]


async def main(place: str) -> None:
    async with open_messages(place) as messages:

        async def send(context: Any, arguments: str) -> str:
            await messages.add("agent", TEXT)
            return '{"success": true}'

        schema = {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        }
        tool = FunctionTool("send_message", "Send a message.", schema, send)
        agent = Agent(name="Agent", instructions="You answer briefly.", model=TalkingModel(), tools=[tool])
        config = RunConfig(tracing_disabled=True, session_settings=SessionSettings(limit=WINDOW))
        sessions = open_sessions(place)

        async def answer(number: int, text: str) -> None:
            await Runner.run(agent, text, session=sessions[number], run_config=config)

        await serve(side_by_side(messages, answer))


if __name__ == "__main__":
    run(main(*sys.argv[1:]))
