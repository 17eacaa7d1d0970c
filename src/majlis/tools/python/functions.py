"""The functions that a config may name, read as tools: type hints become the input schema, the docstring becomes the
description. A config is data and must not run arbitrary code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, get_type_hints

import structlog
from pydantic import BaseModel, ConfigDict, Field, create_model

from majlis.errors import Forbidden, Invalid, NotFound
from majlis.lazy_import import import_alone
from majlis.tool_decorator import MARK, ToolContext
from majlis.tools.json_schema import schema_of

GROUP = "majlis.tools"
_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=False, hide_input_in_errors=True)
_logger = structlog.get_logger(__name__)


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


@dataclass(frozen=True)
class Function:
    reference: str
    call: Callable[..., Any]
    signature: Signature


class Functions:
    def __init__(self, modules: Iterable[str] = ()) -> None:
        self._modules = tuple(modules)

    def find(self, reference: str) -> Function:
        """Finds a function by `package.module:name`. The error messages continue "… cannot be used: "."""
        module, _, name = reference.partition(":")
        offered = any(each.module == module and each.attr in ("", name) for each in self._offered)
        if module not in self._modules and not offered:
            raise Forbidden("module_not_allowed", f"{module} is not allowed by the setting tool_modules.")
        found: Any = getattr(_import(module), name, None)
        if not _may_be_called(found, module, name):
            raise NotFound("unknown_function", f"{module} defines no function and no @tool named {name}.")
        return Function(reference, found, read_signature(found))

    def listed(self) -> tuple[list[Function], list[str]]:
        """All functions marked with `@majlis.tool`, and the problems of the others."""
        functions: list[Function] = []
        problems: list[str] = []
        for reference in self._references(problems):
            try:
                functions.append(self.find(reference))
            except (Forbidden, Invalid, NotFound) as error:
                problems.append(f"{reference} cannot be used: {error.message}")
        return functions, problems

    def _references(self, problems: list[str]) -> list[str]:
        named = [f"{each.module}:{each.attr}" for each in self._offered if each.attr]
        whole = [each.module for each in self._offered if not each.attr]
        for module in dict.fromkeys((*self._modules, *whole)):
            try:
                named += [f"{module}:{name}" for name, each in vars(_import(module)).items() if hasattr(each, MARK)]
            except Invalid as error:
                problems.append(error.message)
        return list(dict.fromkeys(named))

    @cached_property
    def _offered(self) -> tuple[EntryPoint, ...]:
        """Installed packages are allowed without a setting."""
        return tuple(entry_points(group=GROUP))


def _may_be_called(found: Any, module: str, name: str) -> bool:
    """Marked as a tool, or a public function defined in that module (not imported by it)."""
    if hasattr(found, MARK):
        return callable(found)
    return inspect.isfunction(found) and found.__module__ == module and not name.startswith("_")


def _import(module: str) -> ModuleType:
    try:
        return import_alone(module)
    except (Exception, SystemExit) as error:
        _logger.warning("tool module cannot be imported", module=module, exc_info=True)
        reason = f"{type(error).__name__}: {error}"[:300]
        raise Invalid("module_broken", f"{module} cannot be imported ({reason}).") from error


@lru_cache(256)
def read_signature(function: Callable[..., Any]) -> Signature:
    """Raises Invalid if the function cannot be a tool."""
    parameters = inspect.signature(function).parameters
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:
        raise Invalid("bad_signature", f"its type hints cannot be read ({error}).") from error
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


def _is_context(name: str, hint: Any) -> bool:
    return hint is ToolContext or (hint is None and name == "context")
