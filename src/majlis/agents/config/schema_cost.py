"""The cost of a JSON Schema: how many subschemas can apply along one path of a value (G1).

References multiply. 28 definitions that each use the next one twice apply 2^28 subschemas to a single text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

MAX_COST = 5000
# A property name is matched against each pattern, so a pattern costs more than a comparison.
PATTERN_COST = 50
_DEPTHS = (50, 16, 8)
_MAX_LEVEL = 300

_HERE = ("not", "if", "then", "else")
_HERE_LISTS = ("allOf", "anyOf", "oneOf")
_HERE_MAPS = ("dependentSchemas", "dependencies")
_BELOW = ("items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames")
# To know what is left over, the validator applies the subschemas beside these again.
_REPEATING = ("unevaluatedItems", "unevaluatedProperties")


class Bounds(NamedTuple):
    depth: int
    """How deep a value may be."""
    cost: int


def bounds_of(schema: Mapping[str, Any]) -> Bounds | None:
    """None if the schema costs too much. A schema that refers to itself may get a smaller depth."""
    for depth in _DEPTHS:
        cost = _Count(schema).of(schema, depth)
        if cost <= MAX_COST:
            return Bounds(depth, cost)
    return None


class _Count:
    """Counts stop growing above MAX_COST."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[tuple[int, int], int] = {}

    def of(self, schema: Any, depth: int, level: int = 0) -> int:
        if not isinstance(schema, Mapping) or depth < 0:
            return 1
        if level > _MAX_LEVEL:
            return MAX_COST + 1
        key = (id(schema), depth)
        if key not in self._known:
            # A schema that reaches itself without going down into the value never ends.
            self._known[key] = MAX_COST + 1
            self._known[key] = min(self._sum(schema, depth, level + 1), MAX_COST + 1)
        return self._known[key]

    def _sum(self, schema: Mapping[str, Any], depth: int, level: int) -> int:
        here = sum(self.of(each, depth, level) for each in self._here(schema))
        # A value has each named property once: only one of them is on the path.
        named = [self.of(each, depth - 1, level) for each in _values(schema, "properties")]
        below = sum(self.of(each, depth - 1, level) for each in _below(schema))
        patterns = PATTERN_COST * len(_values(schema, "patternProperties"))
        repeated = 3 if any(name in schema for name in _REPEATING) else 1
        return 1 + here * repeated + max(named, default=0) + below + patterns

    def _here(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        yield from (schema[name] for name in _HERE if name in schema)
        for name in _HERE_LISTS:
            yield from _items(schema, name)
        for name in _HERE_MAPS:
            yield from _values(schema, name)
        if isinstance(reference := schema.get("$ref"), str):
            yield self._target(reference)

    def _target(self, reference: str) -> Any:
        found: Any = self._root
        for name in reference.split("/")[1:]:
            found = found.get(unquote(name).replace("~1", "/").replace("~0", "~"))
        return found


def _below(schema: Mapping[str, Any]) -> Iterator[Any]:
    yield from (schema[name] for name in _BELOW if name in schema)
    yield from _items(schema, "prefixItems")
    yield from _values(schema, "patternProperties")


def _items(schema: Mapping[str, Any], name: str) -> list[Any]:
    found = schema.get(name)
    return found if isinstance(found, list) else []


def _values(schema: Mapping[str, Any], name: str) -> list[Any]:
    found = schema.get(name)
    return list(found.values()) if isinstance(found, Mapping) else []
