"""Secrets of tools: the environment variables in `tool_env`, and stored secrets (G14). Tools send them; results never
show them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from majlis.agents.config.templates import SECRET_REFERENCE
from majlis.errors import Forbidden
from majlis.hosts import Target
from majlis.secret_store import SecretStore

# A shorter value would match in almost any text.
_SHORTEST_MASKED = 4


class Secrets:
    def __init__(
        self, names: Iterable[str] = (), environ: Mapping[str, str] | None = None, store: SecretStore | None = None
    ) -> None:
        self.store = store
        self._names = frozenset(names)
        self._environ = os.environ if environ is None else environ

    def get(self, name: str) -> str:
        if name not in self._names:
            raise Forbidden(
                "secret_not_allowed",
                f"the environment variable {name} is not allowed by the setting tool_env. Ask the operator of this "
                "gateway to allow it.",
            )
        value = self._environ.get(name, "").strip()
        if not value:
            raise Forbidden(
                "secret_not_set",
                f"the environment variable {name} is not set. Ask the operator of this gateway to set it.",
            )
        return value

    async def stored(self, texts: Iterable[str], place: Target | str) -> dict[str, str]:
        """The values of the `secret:NAME` in the texts, if they may be sent to this place."""
        names = {name for text in texts for name in SECRET_REFERENCE.findall(text)}
        if names and self.store is None:
            raise Forbidden("unknown_secret", "stored secrets cannot be used here.")
        return {name: await self.store.send_to(name, place) for name in sorted(names)} if self.store else {}

    def mask(self, text: str) -> str:
        """A server may echo a secret; the model and the journal must not see it."""
        stored = self.store.read if self.store is not None else {}
        values = {name: self._environ.get(name, "").strip() for name in self._names} | stored
        for name, value in values.items():
            if len(value) >= _SHORTEST_MASKED:
                for form in _forms(value):
                    text = text.replace(form, f"[secret {name}]")
        return text

    def mask_all(self, value: Any) -> Any:
        """Masks all texts and keys of a JSON value."""
        match value:
            case str():
                return self.mask(value)
            case dict():
                return {self.mask_all(key): self.mask_all(child) for key, child in value.items()}
            case list():
                return [self.mask_all(child) for child in value]
        return value


def _forms(value: str) -> list[str]:
    """The plain value and its encodings in URLs and JSON, longest first."""
    forms = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
    return sorted(forms, key=len, reverse=True)
