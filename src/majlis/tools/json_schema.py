"""JSON Schema of tool input: the schema that the model sees, and the validation of its input."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from majlis.agents.config.validate import problem_with
from majlis.errors import Invalid
from majlis.models.port import MAX_DEPTH, is_too_deep

_FIX = "Fix the input and call the tool again."


def parse_object(name: str, arguments: str) -> dict[str, Any]:
    try:
        given = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError as error:
        raise Invalid("invalid_input", f"{name} was not called: its input is not JSON ({error}).") from None
    if not isinstance(given, dict):
        raise Invalid("invalid_input", f"{name} was not called: its input must be a JSON object.")
    if is_too_deep(given):
        raise Invalid("invalid_input", f"{name} was not called: its input is nested more than {MAX_DEPTH} levels deep.")
    return given


def parse_input(name: str, schema: dict[str, Any], arguments: str) -> Any:
    given = parse_object(name, arguments)
    problem = problem_with(schema, given)
    if problem is not None:
        place = problem.place() or "input"
        raise Invalid("invalid_input", f"{name} was not called: {place} {problem.message}. {_FIX}")
    return given


def input_error(name: str, error: ValidationError) -> Invalid:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    listed = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}" for each in problems[:5])
    return Invalid("invalid_input", f"{name} was not called: its input is invalid ({listed}). {_FIX}")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema without titles and references; descriptions stay."""
    schema = model.model_json_schema(by_alias=True)
    plain = _plain(schema, schema.get("$defs", {}))
    plain.setdefault("properties", {})
    # A class docstring is for developers; the model reads the description of the tool.
    plain.pop("description", None)
    return plain


def _plain(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[1]]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("title", "$defs", "discriminator") or (key == "default" and value is None):
            continue
        if key == "properties":
            plain[key] = {name: _plain(each, definitions) for name, each in value.items()}
        elif key == "anyOf":
            # `X | None` means optional; hide the null from the model.
            options = [_plain(each, definitions) for each in value if each.get("type") != "null"]
            plain.update(options[0] if len(options) == 1 else {"anyOf": options})
        elif isinstance(value, dict) and key in ("items", "additionalProperties"):
            plain[key] = _plain(value, definitions)
        elif key in ("allOf", "oneOf", "prefixItems"):
            plain[key] = [_plain(each, definitions) for each in value]
        else:
            plain[key] = value
    return plain
