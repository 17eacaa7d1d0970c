"""openai-agents: from a new message to the model's request, over a windowed SQLite session. Runs in `.venv-peers`.

`openai_session.py FILE MESSAGES`. Its agent has no tools and its request is not turned into bytes: both would cost it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SessionSettings, SQLiteSession, Usage  # type: ignore[import-not-found]
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

WINDOW = 50
TEXT = "I have looked at it: the figures agree with last week's, and I will tell you when they change."


class InstantModel(Model):  # type: ignore[misc]
    """Notes when it is asked, and answers at once."""

    def __init__(self) -> None:
        self.asked_at = 0.0

    async def get_response(self, system_instructions: Any, input: list[Any], *rest: Any, **more: Any) -> Any:
        self.asked_at = time.perf_counter()
        assert len(input) == WINDOW + 1, f"{len(input)} items in the request"
        text = ResponseOutputText(annotations=[], text=TEXT, type="output_text")
        message = ResponseOutputMessage(
            id="msg_1", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    async def stream_response(self, *given: Any, **more: Any) -> Any:
        raise NotImplementedError


async def main(file: str, messages: int) -> None:
    session = SQLiteSession("bench", file, session_settings=SessionSettings(limit=WINDOW))
    await session.add_items([_item(number) for number in range(messages)])
    model = InstantModel()
    agent = Agent(name="Agent", instructions="You answer briefly.", model=model)
    config = RunConfig(tracing_disabled=True)
    print("[]", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            started = time.perf_counter()
            await Runner.run(agent, "What do you think of it?", session=session, run_config=config)
            times.append(model.asked_at - started)
        print(json.dumps(times), flush=True)


def _item(number: int) -> dict[str, str]:
    text = f"w{number % 97} x{number % 1009} y{number * 31 % 5003} z{number * 17 % 997} m{number}"
    return {"role": "assistant" if number % 2 else "user", "content": text}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
