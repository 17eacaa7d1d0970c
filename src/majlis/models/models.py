"""Opens the models that agents use."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from majlis.agents.config.model import DEMO, ModelChoice, ModelObject
from majlis.model_providers import OWN_PROTOCOL, Key, find_key, local_url
from majlis.models.chat.client import ChatModel, Clients
from majlis.models.contexts import Contexts
from majlis.models.demo.demo import DemoModel
from majlis.models.guard import ModelGuard
from majlis.models.library.library import LibraryModel, Providers
from majlis.models.port import UNLIMITED, KnownContext, Model, ModelEvent, Prompt

KEPT = 256


class Models:
    """Choices with equal settings share one model and its connections."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, demo: ModelChoice = DEMO, guard: ModelGuard | None = None
    ) -> None:
        """`demo` is used for agents with the model "demo": the rules, or a real model from the settings."""
        self._environ = environ
        self._demo = demo
        self._guard = guard or ModelGuard(environ=environ)
        self._clients = Clients()
        self.contexts = Contexts(self._clients, environ)
        self._providers = Providers()
        self._open: OrderedDict[tuple[str, str | None], Model] = OrderedDict()

    def get(self, choice: ModelChoice) -> Model:
        """Opens no connection: a missing key, a wrong name or a forbidden host shows at the first request."""
        if choice == DEMO and self._demo != DEMO:
            return self.of_settings(self._demo)
        if choice == DEMO:
            return self._kept((DEMO, None), DemoModel())
        chosen = _as_object(choice)
        place = f"guarded {chosen.model_dump_json()}", None
        return self._kept(place, self._open.get(place) or self._guarded(chosen))

    async def context(self, choice: ModelChoice) -> KnownContext:
        """How many tokens its requests may have."""
        if choice == DEMO and self._demo == DEMO:
            return KnownContext(UNLIMITED)
        chosen = _as_object(self._demo if choice == DEMO else choice)
        own = choice == DEMO and chosen.api_key is None

        async def key() -> Key:
            return self._key_of_settings(chosen) if own else await self._guard.key_for(chosen)

        return await self.contexts.of(chosen, key)

    def of_settings(self, choice: ModelChoice) -> Model:
        """A model that the settings name, so its host and its key need no other permission."""
        chosen = _as_object(choice)
        if chosen.api_key is not None:
            return self.get(chosen)
        return self.opened(chosen, self._key_of_settings(chosen))

    def opened(self, choice: ModelObject, key: Key) -> Model:
        """Opens a model with a key that may be sent to it."""
        place = (choice.model_dump_json(), key.value)
        return self._kept(place, self._open.get(place) or self._new(choice, key))

    async def close(self) -> None:
        await self.contexts.close()
        self._open.clear()
        await self._clients.close()
        await self._providers.close()

    def _key_of_settings(self, chosen: ModelObject) -> Key:
        return find_key(chosen.provider, chosen.api_key_env, self._environ)

    def _kept(self, place: tuple[str, str | None], new: Model) -> Model:
        found = self._open.setdefault(place, new)
        self._open.move_to_end(place)
        if len(self._open) > KEPT:
            # A run may still read from it: the connections belong to the clients.
            self._open.popitem(last=False)
        return found

    def _guarded(self, chosen: ModelObject) -> Model:
        key = self._guard.settled_key(chosen)
        return self.opened(chosen, key) if key is not None else _Guarded(self, self._guard, chosen)

    def _new(self, choice: ModelObject, key: Key) -> Model:
        base_url = choice.base_url or local_url(choice.provider, self._environ)
        if base_url is None or choice.provider in OWN_PROTOCOL:
            return LibraryModel(choice, key, self._providers)
        placed = choice.model_copy(update={"base_url": base_url})
        return ChatModel(placed, key, self._clients.get(base_url, key.value))


class _Guarded:
    """Asks the guard for each request: the owner may change its secret or its host at any time."""

    def __init__(self, models: Models, guard: ModelGuard, choice: ModelObject) -> None:
        self._models = models
        self._guard = guard
        self._choice = choice

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        model = self._models.opened(self._choice, await self._guard.key_for(self._choice))
        async with aclosing(model.stream(prompt)) as events:
            async for event in events:
                yield event


def _as_object(choice: ModelChoice) -> ModelObject:
    if isinstance(choice, ModelObject):
        return choice
    provider, _, name = choice.partition(":")
    return ModelObject(provider=provider, name=name)
