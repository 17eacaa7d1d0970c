"""Reads a provider's key from the environment when a model is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from majlis.model_providers import PROVIDERS


@dataclass(frozen=True)
class Key:
    """`variable` is the one that holds the key, or else the one to set; None if the provider has no usual one."""

    variable: str | None
    value: str | None = field(default=None, repr=False)


def find_key(provider: str, variable: str | None, environ: Mapping[str, str]) -> Key:
    known = PROVIDERS.get(provider)
    names = (variable,) if variable else known.keys if known else ()
    for name in names:
        if environ.get(name):
            return Key(name, environ[name].strip())
    return Key(names[0] if names else None)


def keys_set(environ: Mapping[str, str]) -> list[str]:
    """The names of the variables that hold a provider's key."""
    return sorted({name for provider in PROVIDERS.values() for name in provider.keys if environ.get(name)})
