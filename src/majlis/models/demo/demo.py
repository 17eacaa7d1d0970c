"""A model made of rules. What it does next depends only on the prompt, so a run can go on anywhere."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

import orjson

from majlis.models.demo.cycle import is_cycle, next_of_cycle
from majlis.models.demo.deciding import next_step
from majlis.models.demo.reading import read
from majlis.models.port import Answer, Call, CallDelta, CallStarted, Finished, ModelEvent, Prompt, Usage
from majlis.store import ids

_WORDS = re.compile(r"\S+\s*")


class DemoModel:
    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        step = next_of_cycle(prompt) if is_cycle(prompt) else next_step(read(prompt))
        if step is None:
            yield Finished(Answer("Nothing to do.", (), Usage()))
            return
        call = Call(ids.new("stp"), step.tool, orjson.dumps(step.input).decode())
        yield CallStarted(0, call.id, call.name)
        for piece in _WORDS.findall(call.arguments):
            # Others get their turn between two words, as with a model that needs time for each.
            await asyncio.sleep(0)
            yield CallDelta(0, piece)
        yield Finished(Answer("", (call,), Usage()))

    async def close(self) -> None:
        return None
