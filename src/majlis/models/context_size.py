"""How many tokens a model can read, from a maintained table in a package. It is loaded when it is first needed."""

from __future__ import annotations

import asyncio
from typing import Final

from majlis.agents.config.model import DEMO, ModelChoice
from majlis.lazy_import import import_alone

DEFAULT_CONTEXT: Final = 32_000
# Where the table names a provider differently.
_TABLE_NAMES = {"google-cloud": "google", "xai": "x-ai", "openai-chat": "openai", "openai-responses": "openai"}


# By provider, name and address.
_sizes: dict[tuple[str, str, str | None], int | None] = {}
_MAX_SIZES = 1000


async def context_size(choice: ModelChoice) -> int | None:
    """None for the demo model, which reads no tokens. A model that is not in the table gets a default."""
    if choice == DEMO:
        return None
    if isinstance(choice, str):
        provider, _, name = choice.partition(":")
        key: tuple[str, str, str | None] = provider, name, None
    else:
        key = choice.provider, choice.name, choice.base_url
    if key not in _sizes:
        if len(_sizes) >= _MAX_SIZES:
            _sizes.clear()
        _sizes[key] = await asyncio.to_thread(_known_size, *key)
    return _sizes[key] or DEFAULT_CONTEXT


def _known_size(provider: str, name: str, url: str | None) -> int | None:
    """A server at another address may have any model under any name, so the address decides."""
    table = import_alone("genai_prices.data_snapshot").get_snapshot()
    known = None if url else _TABLE_NAMES.get(provider, provider)
    try:
        _, model = table.find_provider_model(name, None, known, url)
    except LookupError:
        return None
    found: int | None = model.context_window
    return found
