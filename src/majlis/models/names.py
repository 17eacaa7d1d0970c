"""What a model is called where people put a price on it: `provider:name`."""

from __future__ import annotations

from typing import Any

from majlis.agents.config.model import ModelChoice


def name_of(choice: ModelChoice) -> str:
    return choice if isinstance(choice, str) else f"{choice.provider}:{choice.name}"


def name_in(config: dict[str, Any]) -> str:
    """Of an agent's config as it is stored."""
    model = config["model"]
    return model if isinstance(model, str) else f"{model.get('provider')}:{model.get('name')}"
