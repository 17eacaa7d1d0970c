"""The library's providers hold HTTP clients: one for each provider and key, closed at the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from majlis.agents.config.model import ModelObject
from majlis.models.keys import Key

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider


class Providers:
    def __init__(self) -> None:
        self._open: dict[tuple[str, str | None], Provider[Any]] = {}
        self._opening = asyncio.Lock()

    async def get(self, choice: ModelObject, key: Key) -> Provider[Any]:
        # Without a variable of its own the library looks for the provider's usual ones itself, and for more than keys.
        own = key.value if choice.api_key_env else None
        async with self._opening:
            found = self._open.get((choice.provider, own))
            if found is None:
                found = await asyncio.to_thread(_new, choice.provider, own)
                self._open[choice.provider, own] = await found.__aenter__()
            return found

    async def close(self) -> None:
        opened, self._open = list(self._open.values()), {}
        for provider in opened:
            await provider.__aexit__(None, None, None)


def _new(name: str, own_key: str | None) -> Provider[Any]:
    from pydantic_ai.providers import infer_provider, infer_provider_class
    from pydantic_ai.providers.gateway import gateway_provider

    if own_key is None:
        return infer_provider(name)
    if name.startswith("gateway/"):
        return gateway_provider(name.removeprefix("gateway/"), api_key=own_key)
    made: Any = infer_provider_class(name)
    provider: Provider[Any] = made(api_key=own_key)
    return provider
