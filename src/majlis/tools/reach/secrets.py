"""Secrets of tools: environment variables that `tool_env` names. They go out, and are never shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from majlis.errors import Forbidden

# A shorter one would be found in any text.
_SHORTEST_MASKED = 4


class Secrets:
    def __init__(self, names: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> None:
        self._names = frozenset(names)
        self._environ = os.environ if environ is None else environ

    def get(self, name: str) -> str:
        if name not in self._names:
            raise Forbidden(
                "secret_not_allowed",
                f"the variable {name} is not among tool_env in the settings. Whoever runs this gateway can allow it.",
            )
        value = self._environ.get(name, "").strip()
        if not value:
            raise Forbidden(
                "secret_not_set", f"the variable {name} is not set where Majlis runs. Whoever runs it can set it."
            )
        return value

    def mask(self, text: str) -> str:
        """A server may send back what it was sent; the model and the journal do not get to see it."""
        for name in self._names:
            value = self._environ.get(name, "").strip()
            if len(value) >= _SHORTEST_MASKED:
                for form in _forms(value):
                    text = text.replace(form, f"[secret {name}]")
        return text

    def mask_all(self, value: Any) -> Any:
        """The same in JSON, wherever it stands."""
        match value:
            case str():
                return self.mask(value)
            case dict():
                return {self.mask_all(key): self.mask_all(child) for key, child in value.items()}
            case list():
                return [self.mask_all(child) for child in value]
        return value


def _forms(value: str) -> list[str]:
    """As it is, and as it is written in URLs and JSON; the longest first."""
    forms = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
    return sorted(forms, key=len, reverse=True)
