"""Secrets in a call's input: fields that the tool's schema marks `writeOnly` are shown only to the tool.

The journal, messages and streams hold a mask. The input itself is kept apart while the call may still be made or made
again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import orjson

from majlis.models.port import Call
from majlis.runs.journal import Entry

MASK = "***"
# Masking shorter texts would hide ordinary words and digits in results.
_SHORTEST = 4
_MOST_KNOWN = 2000
_SECRET: Mapping[str, Any] = {"writeOnly": True}
_known: dict[int, tuple[Mapping[str, Any], bool]] = {}


def shown_input(call: Call, given: dict[str, Any] | None, secret: Mapping[str, Any] | None) -> dict[str, Any]:
    """The input for the journal, masked by the schema `secret`. Malformed input is kept as text, unless it may contain
    a secret."""
    if given is None:
        return {"malformed": MASK if secret is not None else call.arguments[:4096]}
    return masked(secret, given) if secret is not None else given


def given_again(entry: Entry) -> str:
    """The input of a journalled call, to make the call again."""
    return orjson.dumps(entry.secret if entry.secret is not None else entry.input).decode()


def holds_secrets(schema: Mapping[str, Any]) -> bool:
    """Cached by schema, since it is asked for every call."""
    found = _known.get(id(schema))
    if found is None or found[0] is not schema:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[id(schema)] = (schema, _says_secret(schema))
    return found[1]


def masked(schema: Mapping[str, Any], value: Any) -> Any:
    """A copy without the secrets. A value that is not an object is masked whole."""
    return _masked(schema, schema, value, 0) if isinstance(value, dict) else MASK


def secrets_in(schema: Mapping[str, Any], value: Any) -> list[str]:
    """The masked texts, also in their JSON, URL and Python spellings; the longest first."""
    forms = {form for text in _hidden(value, masked(schema, value)) for form in _forms(text)}
    return sorted(forms, key=len, reverse=True)


def hide(secrets: Sequence[str], value: Any) -> Any:
    """Masks secrets that a tool repeats in its result or its error message."""
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
    parts = _parts_of(root, schema)
    # Deeper values are masked whole.
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


def _parts_of(root: Mapping[str, Any], schema: Any) -> list[Mapping[str, Any]]:
    """The schema and all subschemas that apply to the same value, each once. The schema may come from an MCP server: it
    may refer to itself, and none of its patterns is run."""
    found: dict[int, Mapping[str, Any]] = {}
    todo = [schema]
    while todo:
        each = todo.pop()
        if isinstance(each, Mapping) and id(each) not in found:
            found[id(each)] = each
            todo += _beside(root, each)
    return list(found.values())


def _of_key(parts: list[Mapping[str, Any]], key: str) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        # Without matching the patterns: a field that one of them may mark secret is secret.
        found += _object(part, "patternProperties").values()
        properties = _object(part, "properties")
        if key in properties:
            found.append(properties[key])
        else:
            found += [part.get("additionalProperties"), part.get("unevaluatedProperties")]
    return found


def _of_index(parts: list[Mapping[str, Any]], n: int) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        first = _list(part, "prefixItems")
        found += [first[n]] if n < len(first) else [part.get("items"), part.get("unevaluatedItems")]
        found.append(part.get("contains"))
    return found


def _beside(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    for key in ("$ref", "$dynamicRef"):
        if key in schema:
            yield _referred(root, schema[key])
    for key in ("allOf", "anyOf", "oneOf"):
        yield from _list(schema, key)
    for key in ("if", "then", "else"):
        yield schema.get(key)
    yield from _object(schema, "dependentSchemas").values()


def _referred(root: Mapping[str, Any], reference: Any) -> Any:
    """An unknown reference counts as a secret."""
    found: Any = root
    marker, *names = reference.split("/") if isinstance(reference, str) else [""]
    for name in (unquote(name).replace("~1", "/").replace("~0", "~") for name in names):
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            found = found.get(name) if isinstance(found, Mapping) else None
    return found if marker == "#" and found is not None else _SECRET


def _object(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []
