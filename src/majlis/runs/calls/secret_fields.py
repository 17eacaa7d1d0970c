"""Where a JSON Schema speaks of one value of the input: everything that may call it a secret.

The schema may be a stranger's (of an MCP server): nothing in it is relied on, and none of its patterns is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

_SECRET: Mapping[str, Any] = {"writeOnly": True}


def parts_of(root: Mapping[str, Any], schema: Any) -> list[Mapping[str, Any]]:
    """A schema and whatever else speaks of the same value, each once: a stranger's may refer to itself, many times."""
    found: dict[int, Mapping[str, Any]] = {}
    todo = [schema]
    while todo:
        each = todo.pop()
        if isinstance(each, Mapping) and id(each) not in found:
            found[id(each)] = each
            todo += _beside(root, each)
    return list(found.values())


def of_key(parts: list[Mapping[str, Any]], key: str) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        # Whichever of the patterns it fits, a secret stays one.
        found += _object(part, "patternProperties").values()
        properties = _object(part, "properties")
        if key in properties:
            found.append(properties[key])
        else:
            found += [part.get("additionalProperties"), part.get("unevaluatedProperties")]
    return found


def of_index(parts: list[Mapping[str, Any]], n: int) -> list[Any]:
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
    """What cannot be found may be a secret, and is taken for one."""
    found: Any = root
    marker, *names = reference.split("/") if isinstance(reference, str) else [""]
    for name in (unquote(name).replace("~1", "/").replace("~0", "~") for name in names):
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            found = found.get(name) if isinstance(found, Mapping) else None
    return found if marker == "#" and found is not None else _SECRET


def _object(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Servers of others may write anything."""
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []
