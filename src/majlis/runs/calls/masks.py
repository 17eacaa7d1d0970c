"""Secrets in a call's input: what the tool's schema marks as `writeOnly` is shown to nobody but the tool.

A mask stands in the journal, in messages and in streams. The input itself is kept apart for as long as the call may
have to be made, or made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from majlis.runs.calls.secret_fields import of_index, of_key, parts_of

MASK = "***"
# Shorter ones would hide ordinary words and digits of what a tool answers.
_SHORTEST = 4
_MOST_KNOWN = 2000
_known: dict[int, tuple[Mapping[str, Any], bool]] = {}


def holds_secrets(schema: Mapping[str, Any]) -> bool:
    """Asked for every call, so what is known of a schema is kept with it."""
    found = _known.get(id(schema))
    if found is None or found[0] is not schema:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[id(schema)] = (schema, _says_secret(schema))
    return found[1]


def masked(schema: Mapping[str, Any], value: Any) -> Any:
    """A copy without the secrets. What is no object is masked whole: nobody knows what is in it."""
    return _masked(schema, schema, value, 0) if isinstance(value, dict) else MASK


def secrets_in(schema: Mapping[str, Any], value: Any) -> list[str]:
    """The texts that the mask hides, also as they are written in JSON, in URLs and by Python; the longest first."""
    forms = {form for text in _hidden(value, masked(schema, value)) for form in _forms(text)}
    return sorted(forms, key=len, reverse=True)


def hide(secrets: Sequence[str], value: Any) -> Any:
    """Also where somebody repeats them: a tool in its result, an error in its words."""
    if not secrets:
        return value
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, MASK)
            return value
        case dict():
            return {hide(secrets, key): hide(secrets, child) for key, child in value.items()}
        case list() | tuple():
            return [hide(secrets, child) for child in value]
        case int() | float() if str(value) in secrets:
            return MASK
    return value


def _forms(text: str) -> Iterator[str]:
    yield from (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1])
    yield quote(text, safe="", errors="replace")


def _says_secret(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        return schema.get("writeOnly") is True or any(map(_says_secret, schema.values()))
    return isinstance(schema, list | tuple) and any(map(_says_secret, schema))


def _masked(root: Mapping[str, Any], schema: Any, value: Any, depth: int) -> Any:
    parts = parts_of(root, schema)
    # Deeper than any schema of ours: rather too much is hidden than too little.
    if depth > 64 or any(part.get("writeOnly") is True for part in parts):
        return MASK
    match value:
        case dict():
            return {key: _child(root, of_key(parts, key), child, depth) for key, child in value.items()}
        case list():
            return [_child(root, of_index(parts, n), child, depth) for n, child in enumerate(value)]
    return value


def _child(root: Mapping[str, Any], schemas: list[Any], value: Any, depth: int) -> Any:
    return _masked(root, {"allOf": schemas}, value, depth + 1)


def _hidden(value: Any, shown: Any) -> Iterator[str]:
    if shown == MASK and value != MASK:
        yield from _texts(value)
    elif isinstance(value, dict) and isinstance(shown, dict):
        for key, child in value.items():
            yield from _hidden(child, shown[key])
    elif isinstance(value, list) and isinstance(shown, list):
        for child, other in zip(value, shown, strict=True):
            yield from _hidden(child, other)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str() if len(value) >= _SHORTEST:
            yield value
        case int() | float() if len(str(value)) >= _SHORTEST and not isinstance(value, bool):
            yield str(value)
        case dict():
            for child in value.values():
                yield from _texts(child)
        case list():
            for child in value:
                yield from _texts(child)
