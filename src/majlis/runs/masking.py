"""Secrets in a call's input: what the tool's schema marks as `writeOnly` is shown to nobody but the tool.

A mask stands in the journal, in messages and in streams. The input itself is kept apart for as long as the call may
have to be made, or made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MASK = "***"
_INSIDE = ("allOf", "anyOf", "oneOf")
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
    """The texts that the mask hides, the longest first."""
    return sorted(set(_hidden(value, masked(schema, value))), key=len, reverse=True)


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
    return value


def _says_secret(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        return schema.get("writeOnly") is True or any(map(_says_secret, schema.values()))
    return isinstance(schema, list | tuple) and any(map(_says_secret, schema))


def _masked(root: Mapping[str, Any], schema: Any, value: Any, depth: int) -> Any:
    parts = list(_parts(root, schema, 0))
    # Deeper than any schema of ours: rather too much is hidden than too little.
    if depth > 64 or any(part.get("writeOnly") is True for part in parts):
        return MASK
    match value:
        case dict():
            return {key: _child(root, _of_key(parts, key), child, depth) for key, child in value.items()}
        case list():
            return [_child(root, _of_index(parts, n), child, depth) for n, child in enumerate(value)]
    return value


def _child(root: Mapping[str, Any], schemas: list[Any], value: Any, depth: int) -> Any:
    return _masked(root, {"allOf": schemas}, value, depth + 1)


def _parts(root: Mapping[str, Any], schema: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """A schema and whatever else speaks of the same value."""
    if not isinstance(schema, Mapping) or depth > 16:
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        found: Any = root
        for name in reference[2:].split("/"):
            found = found.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
        yield from _parts(root, found, depth + 1)
    for key in _INSIDE:
        for each in schema.get(key) or ():
            yield from _parts(root, each, depth + 1)
    for key in ("if", "then", "else"):
        yield from _parts(root, schema.get(key), depth + 1)


def _of_key(parts: list[Mapping[str, Any]], key: str) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        properties = part.get("properties") or {}
        if key in properties:
            found.append(properties[key])
        else:
            # By pattern, or by none at all: whichever of them it is, a secret stays one.
            found += [*(part.get("patternProperties") or {}).values(), part.get("additionalProperties")]
    return found


def _of_index(parts: list[Mapping[str, Any]], n: int) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        first = part.get("prefixItems") or []
        found.append(first[n] if n < len(first) else part.get("items"))
    return found


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
        case dict():
            for child in value.values():
                yield from _texts(child)
        case list():
            for child in value:
                yield from _texts(child)
