"""Models without a `baseUrl`, and those whose servers have a protocol of their own, through pydantic-ai.

Its import takes a second and 100 MB, so it happens at the first request, in a thread.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from majlis.agents.config.model import ModelObject
from majlis.lazy_import import import_alone
from majlis.model_providers import Key, missing_package
from majlis.models.chat.client import Deadlines
from majlis.models.port import Answer, Finished, ModelEvent, ModelFailed, Prompt
from majlis.models.provider_errors import ProviderErrors

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

_REMEMBERED = 200


class Providers:
    """One provider of the library, with its HTTP client, per name, key and address."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str | None, str | None], Provider[Any]] = {}
        self._opening = asyncio.Lock()

    async def get(self, choice: ModelObject, key: Key) -> Provider[Any]:
        # Without `apiKeyEnv` the library reads the usual variables itself, and others besides keys.
        own = key.value if choice.api_key_env or choice.api_key else None
        place = choice.provider, own or (key.value if choice.base_url else None), choice.base_url
        async with self._opening:
            found = self._open.get(place)
            if found is None:
                found = await asyncio.to_thread(_new, *place)
                self._open[place] = await found.__aenter__()
            return found

    async def close(self) -> None:
        opened, self._open = list(self._open.values()), {}
        for provider in opened:
            await provider.__aexit__(None, None, None)


class LibraryModel:
    def __init__(self, choice: ModelObject, key: Key, providers: Providers) -> None:
        self._choice = choice
        at = urlsplit(choice.base_url).netloc if choice.base_url else None
        name = f"The model server at {at}" if at else f'The provider "{choice.provider}"'
        self._errors = ProviderErrors(name, choice.name, key)
        self._providers = providers
        self._instance: Model | None = None
        self._settings = _settings(choice)
        # Some providers want their signed reasoning back with the calls it led to, and the port has no place for it.
        # By call id; a run that continues on another worker does without, which these providers allow.
        self._remembered: OrderedDict[str, ModelResponse] = OrderedDict()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        await asyncio.to_thread(import_alone, "majlis.models.library.translate")
        from majlis.models.library import translate

        try:
            model = await self._opened()
            deadlines = Deadlines(self._choice, prompt.patience)
            async with translate.opened(model, prompt, self._settings, self._remembered, deadlines) as stream:
                async with aclosing(translate.events(stream, deadlines)) as events:
                    async for event in events:
                        yield event
                response = stream.get()
            answer = translate.answer(self._errors, response)
        except ModelFailed:
            raise
        except TimeoutError as error:
            raise deadlines.failure(self._errors) from error
        except Exception as error:
            raise translate.failure(self._errors, error) from error
        self._remember(answer, response)
        yield Finished(answer)

    async def _opened(self) -> Model:
        if self._instance is None:
            from pydantic_ai.models import infer_model

            command = missing_package(self._choice.provider)
            if command is not None:
                raise self._errors.misconfigured(
                    f"it needs a package that is not installed. Run {command} where Majlis runs, then restart it."
                )
            provider = await self._providers.get(self._choice, self._errors.key)
            self._instance = infer_model(f"{self._choice.provider}:{self._choice.name}", lambda _name: provider)
        return self._instance

    def _remember(self, answer: Answer, response: ModelResponse) -> None:
        for call in answer.calls:
            self._remembered[call.id] = response
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)


def _settings(choice: ModelObject) -> dict[str, Any]:
    """The config's `timeout` is the library's `request_timeout`. The run retries, not the library."""
    given = choice.settings.model_dump(by_alias=False, exclude_none=True)
    seconds = given.get("timeout")
    return given | {"max_retries": 0} | ({} if seconds is None else {"request_timeout": seconds})


def _new(name: str, own_key: str | None, base_url: str | None) -> Provider[Any]:
    from pydantic_ai.providers import infer_provider, infer_provider_class
    from pydantic_ai.providers.gateway import gateway_provider

    if base_url is not None:
        return _at(name, own_key, base_url)
    if own_key is None:
        return infer_provider(name)
    if name.startswith("gateway/"):
        return gateway_provider(name.removeprefix("gateway/"), api_key=own_key)
    made: Any = infer_provider_class(name)
    provider: Provider[Any] = made(api_key=own_key)
    return provider


def _at(name: str, key: str | None, base_url: str) -> Provider[Any]:
    """Never without a key, or the library would send that of the environment to this address."""
    from pydantic_ai.providers import infer_provider_class

    made: Any = infer_provider_class(name)
    root = base_url.rstrip("/")
    # Anthropic's client adds /v1 itself.
    root = root.removesuffix("/v1") if name == "anthropic" else root
    provider: Provider[Any] = made(api_key=key or "none", base_url=root)
    if name == "anthropic":
        # Read from ANTHROPIC_AUTH_TOKEN by its client.
        provider.client.auth_token = None
    return provider
