"""What an interactive tool takes from the model and wants from a person (J5): JSON Schemas, with sensible defaults."""

from __future__ import annotations

import datetime
import re
from functools import cache
from typing import Any, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match

from majlis.agents.config.types import JsonObject

_QUESTION: JsonObject = {"type": "string", "minLength": 1, "maxLength": 4000, "description": "What people are asked."}
_OPTIONS: JsonObject = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 200},
    "minItems": 1,
    "maxItems": 50,
    "uniqueItems": True,
    "description": "What they may choose from.",
}
APPROVAL: JsonObject = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "comment": {"type": "string", "maxLength": 4000}},
    "required": ["approved"],
    "additionalProperties": False,
}
FREE_TEXT: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 16_000}},
    "required": ["text"],
    "additionalProperties": False,
}
# In a form: a file's name alone, which can lead nowhere else.
_FILE_NAME = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f]{1,255}")


def default_input(ui: str, options: bool) -> JsonObject:
    """`options`: whether the config has them, so that the model need not."""
    properties: JsonObject = {"question": _QUESTION}
    required = ["question"]
    if ui == "choice":
        properties["options"] = _OPTIONS
        required += [] if options else ["options"]
    return {"type": "object", "properties": properties, "required": cast(Any, required), "additionalProperties": False}


def choice_of(options: list[Any]) -> JsonObject:
    return {
        "type": "object",
        "properties": {"choice": {"enum": options}},
        "required": ["choice"],
        "additionalProperties": False,
    }


def without_required(schema: JsonObject) -> JsonObject:
    """For a form that is its own input: the model may fill in some of it, a person the rest."""
    return {key: value for key, value in schema.items() if key != "required"}


def problem_with(schema: dict[str, Any], answer: Any) -> tuple[str, str] | None:
    """The path of what does not fit, and why not."""
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
    if not isinstance(value, str):
        return True
    return len(value) == 10 and datetime.date.fromisoformat(value) is not None
