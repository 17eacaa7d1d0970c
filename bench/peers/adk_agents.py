"""Google ADK with its `DatabaseSessionService`, in `.venv-peers`: `adk_agents PLACE`.

An agent whose model calls a tool that stores the answer, and then ends; a session for each agent, of which the last
events are read. On SQLite it uses aiosqlite, on PostgreSQL asyncpg. Durability is its default: each event (the person's
message, the call, its result, the end) is a commit of its own.

It does less than Majlis: no queue that survives a crash, no events for other clients, no unread counts. In its favour:
SQLite has a write-ahead log, which ADK does not turn on; the agent has one tool, and its request is not turned into
bytes.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent, RunConfig  # type: ignore[import-untyped]
from google.adk.models import BaseLlm, LlmResponse  # type: ignore[import-untyped]
from google.adk.runners import Runner  # type: ignore[import-untyped]
from google.adk.sessions import DatabaseSessionService  # type: ignore[import-untyped]
from google.adk.sessions.base_session_service import GetSessionConfig  # type: ignore[import-untyped]
from google.genai import types  # type: ignore[import-untyped]

from bench.peers.same_work import (
    AGENTS,
    TEXT,
    WINDOW,
    is_postgres,
    open_messages,
    run,
    serve,
    side_by_side,
    turn_on_wal,
)

APP = "bench"
PERSON = "person"
# Whole runs, of three events or four: otherwise it would begin with a tool's result without the call.
EVENTS = WINDOW - WINDOW % 12


class TalkingModel(BaseLlm):  # type: ignore[misc]
    """Says one sentence with a tool and, once that was sent, nothing more."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        sent = llm_request.contents[-1].parts[-1].function_response is not None
        part = types.Part(text="") if sent else types.Part.from_function_call(name="send_message", args={"text": TEXT})
        used = types.GenerateContentResponseUsageMetadata(prompt_token_count=1000, candidates_token_count=30)
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=used)


def url(place: str) -> str:
    if is_postgres(place):
        return place.replace("postgresql:", "postgresql+asyncpg:", 1)
    file = Path(place) / "sessions.db"
    turn_on_wal(file)
    return f"sqlite+aiosqlite:///{file}"


async def main(place: str) -> None:
    async with open_messages(place) as messages, DatabaseSessionService(url(place)) as sessions:

        async def send_message(text: str) -> dict[str, bool]:
            """Send a message."""
            await messages.add("agent", text)
            return {"success": True}

        agent = LlmAgent(
            name="agent", instruction="You answer briefly.", model=TalkingModel(model="stub"), tools=[send_message]
        )
        runner = Runner(agent=agent, app_name=APP, session_service=sessions)
        config = RunConfig(get_session_config=GetSessionConfig(num_recent_events=EVENTS))
        for number in range(AGENTS):
            await sessions.create_session(app_name=APP, user_id=PERSON, session_id=f"agent-{number}")

        async def answer(number: int, text: str) -> None:
            said = types.Content(role="user", parts=[types.Part(text=text)])
            events = runner.run_async(user_id=PERSON, session_id=f"agent-{number}", new_message=said, run_config=config)
            async for _ in events:
                pass

        await serve(side_by_side(messages, answer))


if __name__ == "__main__":
    run(main(*sys.argv[1:]))
