"""Input of configured tools, checked against the JSON Schema that their config gives."""

from __future__ import annotations

from typing import Any

import orjson
from jsonschema import Draft202012Validator

from majlis.errors import Invalid
from majlis.runs.calls.masks import holds_secrets
from majlis.runs.calls.result import MAX_DEPTH, is_too_deep


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
    problem = next(iter(Draft202012Validator(schema).iter_errors(given)), None)
    if problem is not None:
        place = ".".join(map(str, problem.absolute_path)) or "input"
        # The message repeats what was given, in whatever form: where there may be secrets, only the rule is told.
        rule = f"does not fit its schema ({problem.validator})"
        reason = rule if holds_secrets(schema) else problem.message[:500]
        raise Invalid("invalid_input", f"{name} was not called: {place}: {reason}. Call it again, mended.")
    return given
