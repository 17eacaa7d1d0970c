"""The functions that a config may name. A config is data and must not run arbitrary code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import structlog

from majlis.errors import Forbidden, Invalid, NotFound
from majlis.lazy_import import import_alone
from majlis.tool_decorator import MARK
from majlis.tools.python.signature import Signature, read_signature

GROUP = "majlis.tools"
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Function:
    reference: str
    call: Callable[..., Any]
    signature: Signature


class Functions:
    def __init__(self, modules: Iterable[str] = ()) -> None:
        self._modules = tuple(modules)

    def find(self, reference: str) -> Function:
        """By `package.module:name`. The error messages continue "… cannot be used: "."""
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
