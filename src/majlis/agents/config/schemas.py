"""What a tool takes: a JSON Schema (Draft 2020-12) of an object that stands on its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Annotated, NamedTuple, cast
from urllib.parse import unquote

import orjson
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from pydantic import AfterValidator, Field, JsonValue

from majlis.agents.config.types import JsonObject, refusal

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_VALUES = 2000

_REFERENCE = re.compile(r"#|#/(\$defs|definitions)/([^/]+)")


class _Flaw(NamedTuple):
    message: str
    at: tuple[str | int, ...]


def no_input() -> JsonObject:
    return {"type": "object", "properties": {}}


def _stands_alone(schema: JsonObject) -> JsonObject:
    if flaw := _flaw_in(orjson.dumps(schema)):
        raise refusal(flaw.message, *flaw.at)
    return schema


@lru_cache(maxsize=256)
def _flaw_in(data: bytes) -> _Flaw | None:
    """Remembered by text, since one config is read many times and checking against the meta-schema is slow."""
    schema = cast(JsonObject, orjson.loads(data))
    nodes = list(_nodes(schema))
    if len(nodes) > MAX_VALUES:
        return _Flaw(f"holds more than {MAX_VALUES} values; make it smaller", ())
    return _root_flaw(schema) or _reference_flaw(schema, nodes) or _meta_schema_flaw(schema)


def _nodes(value: JsonValue, *at: str | int) -> Iterator[tuple[tuple[str | int, ...], JsonValue]]:
    yield at, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _nodes(child, *at, key)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _nodes(child, *at, index)


def _root_flaw(schema: JsonObject) -> _Flaw | None:
    if schema.get("type") != "object":
        return _Flaw('should be "object": a tool takes named inputs', ("type",))
    if schema.get("$schema", DIALECT) != DIALECT:
        return _Flaw(f'should be "{DIALECT}"; write the schema for that draft, or leave $schema out', ("$schema",))
    return None


def _reference_flaw(schema: JsonObject, nodes: list[tuple[tuple[str | int, ...], JsonValue]]) -> _Flaw | None:
    """Strict on purpose: what can only point at a checked part of this schema reaches no network and no dead end."""
    for at, value in nodes:
        if not isinstance(value, str) or not at:
            continue
        if at[-1] == "$ref" and not _points_inside(schema, value):
            return _Flaw('should be "#" or "#/$defs/…" with a name that is defined in this schema', at)
        if at[-1] in ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor"):
            return _Flaw("is not supported; define parts under $defs and use them with $ref", at)
    return None


def _points_inside(schema: JsonObject, reference: str) -> bool:
    form = _REFERENCE.fullmatch(reference)
    if form is None or form[1] is None:
        return form is not None
    definitions = schema.get(form[1])
    name = unquote(form[2]).replace("~1", "/").replace("~0", "~")
    return isinstance(definitions, dict) and name in definitions


def _meta_schema_flaw(schema: JsonObject) -> _Flaw | None:
    first = next(_meta_schema().iter_errors(schema), None)
    if first is None:
        return None
    error = best_match([first]) or first
    return _Flaw(f"is not valid JSON Schema: {error.message[:200]}", tuple(error.absolute_path))


@cache
def _meta_schema() -> Draft202012Validator:
    patterns = FormatChecker(formats=())
    patterns.checks("regex", raises=(re.error, RecursionError, OverflowError, Warning))(_compiles)
    return Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=patterns)


def _compiles(pattern: object) -> bool:
    return not isinstance(pattern, str) or re.compile(pattern) is not None


InputSchema = Annotated[
    JsonObject,
    Field(json_schema_extra={"description": "A JSON Schema (Draft 2020-12) of type object."}),
    AfterValidator(_stands_alone),
]
