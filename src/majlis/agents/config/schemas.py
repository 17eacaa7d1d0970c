"""JSON Schemas in a config: the input of tools (Draft 2020-12, self-contained), and the answers to cards (J5)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, cast
from urllib.parse import unquote

import orjson
from pydantic import AfterValidator, Field, JsonValue

from majlis.agents.config.problems import Path
from majlis.agents.config.types import JsonObject, refusal, walk
from majlis.agents.config.validate import Flaw, schema_flaw

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_VALUES = 2000

_REFERENCE = re.compile(r"#|#/(\$defs|definitions)/([^/]+)")


def no_input() -> JsonObject:
    return {"type": "object", "properties": {}}


def _stands_alone(schema: JsonObject) -> JsonObject:
    if flaw := _flaw_in(orjson.dumps(schema)):
        raise refusal(flaw.message, *flaw.at)
    return schema


@lru_cache(maxsize=256)
def _flaw_in(data: bytes) -> Flaw | None:
    """Cached: the same config is parsed often, and validating against the meta-schema is slow."""
    schema = cast(JsonObject, orjson.loads(data))
    nodes = list(walk(schema))
    if len(nodes) > MAX_VALUES:
        return Flaw(f"has more than {MAX_VALUES} values; make it smaller", ())
    return _root_flaw(schema) or _reference_flaw(schema, nodes) or schema_flaw(schema)


def _root_flaw(schema: JsonObject) -> Flaw | None:
    if schema.get("type") != "object":
        return Flaw('should be "object": a tool takes named parameters', ("type",))
    if schema.get("$schema", DIALECT) != DIALECT:
        return Flaw(f'should be "{DIALECT}"; write the schema for that draft, or omit $schema', ("$schema",))
    return None


def _reference_flaw(schema: JsonObject, nodes: list[tuple[Path, JsonValue]]) -> Flaw | None:
    """Strict on purpose: a reference into this schema needs no network and always resolves."""
    for at, value in nodes:
        if not isinstance(value, str) or not at:
            continue
        if at[-1] == "$ref" and not _points_inside(schema, value):
            return Flaw('should be "#" or "#/$defs/…" with a name defined in this schema', at)
        if at[-1] in ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor"):
            return Flaw("is not supported; define parts under $defs and use them with $ref", at)
    return None


def _points_inside(schema: JsonObject, reference: str) -> bool:
    form = _REFERENCE.fullmatch(reference)
    if form is None or form[1] is None:
        return form is not None
    definitions = schema.get(form[1])
    name = unquote(form[2]).replace("~1", "/").replace("~0", "~")
    return isinstance(definitions, dict) and name in definitions


InputSchema = Annotated[
    JsonObject,
    Field(json_schema_extra={"description": "A JSON Schema (Draft 2020-12) of type object."}),
    AfterValidator(_stands_alone),
]


def without_required(schema: JsonObject) -> JsonObject:
    """For a form that is also the tool's input: the model may fill in a part, a person the rest."""
    return {key: value for key, value in schema.items() if key != "required"}
