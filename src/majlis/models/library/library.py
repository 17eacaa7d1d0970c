"""Models of the providers that pydantic-ai speaks to: "provider:name", and objects without a `baseUrl`.

Its import takes a second and 100 MB, so it is loaded when such a model is first asked, and not on the event loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from majlis.agents.config.model import ModelObject
from majlis.agents.config.providers import missing_package
from majlis.lazy_import import import_alone
from majlis.models.keys import Key
from majlis.models.library.clients import Providers
from majlis.models.port import Answer, Finished, ModelEvent, ModelFailed, Prompt
from majlis.models.provider_errors import Side

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as LibraryInstance

_REMEMBERED = 200


class LibraryModel:
    def __init__(self, choice: ModelObject, key: Key, providers: Providers) -> None:
        self._choice = choice
        self._side = Side(f'The provider "{choice.provider}"', choice.name, key)
        self._providers = providers
        self._instance: LibraryInstance | None = None
        self._settings = _settings(choice)
        # By its calls' ids. Some providers want their signed reasoning back along with the calls that came of it,
        # and the port has no place for it; a run that goes on elsewhere does without, as they allow.
        self._remembered: OrderedDict[str, ModelResponse] = OrderedDict()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent]:
        await asyncio.to_thread(import_alone, "majlis.models.library.translate")
        from majlis.models.library import errors as library_errors
        from majlis.models.library import translate as library_stream

        try:
            model = await self._opened()
            async with library_stream.opened(model, prompt, self._settings, self._remembered) as stream:
                async with aclosing(library_stream.events(stream)) as events:
                    async for event in events:
                        yield event
                response = stream.get()
            answer = library_stream.answer(self._side, response)
        except ModelFailed:
            raise
        except Exception as error:
            raise library_errors.failure(self._side, error) from error
        self._remember(answer, response)
        yield Finished(answer)

    async def close(self) -> None:
        return None

    async def _opened(self) -> LibraryInstance:
        if self._instance is None:
            from pydantic_ai.models import infer_model

            command = missing_package(self._choice.provider)
            if command is not None:
                raise self._side.misconfigured(
                    f"it needs a package that is not installed. Run {command} where Majlis runs, then restart it."
                )
            provider = await self._providers.get(self._choice, self._side.key)
            self._instance = infer_model(f"{self._choice.provider}:{self._choice.name}", lambda _name: provider)
        return self._instance

    def _remember(self, answer: Answer, response: ModelResponse) -> None:
        for call in answer.calls:
            self._remembered[call.id] = response
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)


def _settings(choice: ModelObject) -> dict[str, Any]:
    """As in the config, but for its `timeout`, which is the library's `request_timeout`; and our loop does retries."""
    given = choice.settings.model_dump(by_alias=False, exclude_none=True)
    seconds = given.get("timeout")
    return given | {"max_retries": 0} | ({} if seconds is None else {"request_timeout": seconds})
