"""The JSON Schema of a tool's input as models read it best: no titles, no references, descriptions kept."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=True)
    plain = _plain(schema, schema.get("$defs", {}))
    plain.setdefault("properties", {})
    # The class's docstring is for us; the model has the tool's description.
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
            plain.update(_any_of([_plain(each, definitions) for each in value]))
        elif isinstance(value, dict) and key in ("items", "additionalProperties"):
            plain[key] = _plain(value, definitions)
        elif key in ("allOf", "oneOf", "prefixItems"):
            plain[key] = [_plain(each, definitions) for each in value]
        else:
            plain[key] = value
    return plain


def _any_of(options: list[dict[str, Any]]) -> dict[str, Any]:
    """`X | None` is how Python says "may be left out"; a model need not know about null."""
    real = [option for option in options if option.get("type") != "null"]
    return real[0] if len(real) == 1 else {"anyOf": real}
