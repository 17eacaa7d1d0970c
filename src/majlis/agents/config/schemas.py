"""JSON Schemas in a config: the input of tools (Draft 2020-12, self-contained), and the answers to cards (J5)."""

from __future__ import annotations

import datetime
import re
from functools import cache, lru_cache
from typing import Annotated, Any, NamedTuple, cast
from urllib.parse import unquote

import orjson
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from pydantic import AfterValidator, Field, JsonValue

from majlis.agents.config.problems import Path
from majlis.agents.config.types import JsonObject, refusal, walk

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_VALUES = 2000

# In a form: a plain file name, without a path.
_FILE_NAME = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f]{1,255}")
_REFERENCE = re.compile(r"#|#/(\$defs|definitions)/([^/]+)")


class _Flaw(NamedTuple):
    message: str
    at: Path


def no_input() -> JsonObject:
    return {"type": "object", "properties": {}}


def _stands_alone(schema: JsonObject) -> JsonObject:
    if flaw := _flaw_in(orjson.dumps(schema)):
        raise refusal(flaw.message, *flaw.at)
    return schema


@lru_cache(maxsize=256)
def _flaw_in(data: bytes) -> _Flaw | None:
    """Cached: the same config is parsed often, and validating against the meta-schema is slow."""
    schema = cast(JsonObject, orjson.loads(data))
    nodes = list(walk(schema))
    if len(nodes) > MAX_VALUES:
        return _Flaw(f"has more than {MAX_VALUES} values; make it smaller", ())
    return _root_flaw(schema) or _reference_flaw(schema, nodes) or _meta_schema_flaw(schema)


def _root_flaw(schema: JsonObject) -> _Flaw | None:
    if schema.get("type") != "object":
        return _Flaw('should be "object": a tool takes named parameters', ("type",))
    if schema.get("$schema", DIALECT) != DIALECT:
        return _Flaw(f'should be "{DIALECT}"; write the schema for that draft, or omit $schema', ("$schema",))
    return None


def _reference_flaw(schema: JsonObject, nodes: list[tuple[Path, JsonValue]]) -> _Flaw | None:
    """Strict on purpose: a reference into this schema needs no network and always resolves."""
    for at, value in nodes:
        if not isinstance(value, str) or not at:
            continue
        if at[-1] == "$ref" and not _points_inside(schema, value):
            return _Flaw('should be "#" or "#/$defs/…" with a name defined in this schema', at)
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


def _closed(properties: JsonObject, *required: str) -> JsonObject:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


_QUESTION: JsonObject = {"type": "string", "minLength": 1, "maxLength": 4000, "description": "The question to ask."}
_OPTIONS: JsonObject = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 200},
    "minItems": 1,
    "maxItems": 50,
    "uniqueItems": True,
    "description": "The options to choose from.",
}
APPROVAL = _closed({"approved": {"type": "boolean"}, "comment": {"type": "string", "maxLength": 4000}}, "approved")
FREE_TEXT = _closed({"text": {"type": "string", "minLength": 1, "maxLength": 16_000}}, "text")


def default_input(ui: str, options: bool) -> JsonObject:
    """`options`: the config has options, so the model may omit them."""
    if ui != "choice":
        return _closed({"question": _QUESTION}, "question")
    return _closed({"question": _QUESTION, "options": _OPTIONS}, "question", *([] if options else ["options"]))


def choice_of(options: list[Any]) -> JsonObject:
    return _closed({"choice": {"enum": options}}, "choice")


def without_required(schema: JsonObject) -> JsonObject:
    """For a form that is also the tool's input: the model may fill in a part, a person the rest."""
    return {key: value for key, value in schema.items() if key != "required"}


def problem_with(schema: dict[str, Any], answer: Any) -> tuple[str, str] | None:
    """The path of the first problem, and its message."""
    error = best_match(Draft202012Validator(schema, format_checker=_formats()).iter_errors(answer))
    if error is None:
        return None
    return ".".join(map(str, error.absolute_path)), error.message[:500]


@cache
def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    checker.checks("date", raises=ValueError)(_is_date)
    checker.checks("file-name")(lambda value: not isinstance(value, str) or _FILE_NAME.fullmatch(value) is not None)
    return checker


def _is_date(value: object) -> bool:
    return not isinstance(value, str) or (len(value) == 10 and datetime.date.fromisoformat(value) is not None)
