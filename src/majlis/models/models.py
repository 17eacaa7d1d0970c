"""Opens the models that agents use."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping

from majlis.agents.config.model import DEMO, ModelChoice, ModelObject
from majlis.model_providers import find_key
from majlis.models.chat.client import ChatModel, Clients
from majlis.models.demo.demo import DemoModel
from majlis.models.library.library import LibraryModel, Providers
from majlis.models.port import Model

KEPT = 256


class Models:
    """Choices with equal settings share one model and its connections."""

    def __init__(self, environ: Mapping[str, str] = os.environ, demo: ModelChoice = DEMO) -> None:
        """`demo` is used for agents with the model "demo": the rules, or a real model from the settings."""
        self._environ = environ
        self._demo = demo
        self._clients = Clients()
        self._providers = Providers()
        self._open: OrderedDict[str, Model] = OrderedDict()

    def get(self, choice: ModelChoice) -> Model:
        """Opens no connection: a missing key or a wrong name shows at the first request."""
        choice = self._demo if choice == DEMO else choice
        name = choice if isinstance(choice, str) else choice.model_dump_json()
        if name not in self._open:
            self._open[name] = self._new(choice)
            if len(self._open) > KEPT:
                # A run may still read from it: the connections belong to the clients.
                self._open.popitem(last=False)
        self._open.move_to_end(name)
        return self._open[name]

    async def close(self) -> None:
        self._open.clear()
        await self._clients.close()
        await self._providers.close()

    def _new(self, choice: ModelChoice) -> Model:
        if choice == DEMO:
            return DemoModel()
        if isinstance(choice, str):
            provider, _, name = choice.partition(":")
            choice = ModelObject(provider=provider, name=name)
        key = find_key(choice.provider, choice.api_key_env, self._environ)
        if choice.base_url is None:
            return LibraryModel(choice, key, self._providers)
        return ChatModel(choice, key, self._clients.get(choice.base_url, key.value))
