"""A scripted Chat Completions server, and models that use it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from majlis.agents.config.model import ModelChoice
from majlis.models.guard import ModelGuard
from majlis.models.models import Models
from majlis.models.port import Model, ModelFailed, Prompt
from tests.model_server import ModelServer, Reply, sequence
from tests.models.prompts import PROMPT, answer, ask, chat_choice

choices: TypeAdapter[Any] = TypeAdapter(ModelChoice)


class Opened:
    """A server, and models that use it."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.environ: dict[str, str] = {}
        self.models = self._new()

    async def restart(self) -> None:
        """Like a new process: the environment is read again."""
        await self.models.close()
        self.models = self._new()

    def _new(self) -> Models:
        return Models(self.environ, guard=ModelGuard(["127.0.0.1"], ["MY_KEY"], self.environ))

    def model(self, **more: Any) -> Model:
        return self.models.get(choices.validate_json(json.dumps(chat_choice(self.server.base_url, **more))))

    async def answers(self, *replies: Reply, prompt: Prompt = PROMPT) -> Any:
        self.server.script = sequence(*replies)
        return await answer(self.model(), prompt)

    async def fails(self, reply: Reply, **more: Any) -> ModelFailed:
        self.server.script = sequence(reply)
        with pytest.raises(ModelFailed) as failed:
            await ask(self.model(**more))
        return failed.value


def events(*chunks: Any, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()
