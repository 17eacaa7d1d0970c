"""Reads a function as a tool: type hints become the input schema, the docstring becomes the description."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from majlis.errors import Invalid
from majlis.tool_decorator import ToolContext
from majlis.tools.json_schema import schema_of

_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=False, hide_input_in_errors=True)


@dataclass(frozen=True)
class Signature:
    description: str
    schema: dict[str, Any]
    context: str | None
    """The name of the parameter that receives the ToolContext."""
    _input: type[BaseModel]
    _names: tuple[str, ...]

    def read(self, data: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name, converted to the hinted types. Raises pydantic's ValidationError."""
        given = self._input.model_validate(data)
        # Omitted arguments use the defaults of the function.
        return {
            name: getattr(given, f"p{n}") for n, name in enumerate(self._names) if f"p{n}" in given.model_fields_set
        }


def read_signature(function: Callable[..., Any]) -> Signature:
    """Raises Invalid if the function cannot be a tool."""
    parameters = inspect.signature(function).parameters
    hints = _hints(function)
    context = next((name for name in parameters if _is_context(name, hints.get(name))), None)
    named = [each for name, each in parameters.items() if name != context]
    for each in named:
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise Invalid("bad_signature", f"its parameter {each} cannot be passed by name.")
    # Renamed: a parameter may be called `schema` or `copy`, which pydantic's models define.
    fields: dict[str, Any] = {}
    for n, each in enumerate(named):
        default = ... if each.default is each.empty else each.default
        fields[f"p{n}"] = hints.get(each.name, Any), Field(default, alias=each.name)
    try:
        model = create_model("Input", __config__=_CONFIG, **fields)
        schema = schema_of(model)
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise Invalid("bad_signature", f"its type hints cannot be read as JSON ({reason[:200]}).") from error
    return Signature(inspect.getdoc(function) or "", schema, context, model, tuple(each.name for each in named))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:
        raise Invalid("bad_signature", f"its type hints cannot be read ({error}).") from error


def _is_context(name: str, hint: Any) -> bool:
    return hint is ToolContext or (hint is None and name == "context")
