"""The functions that a config may name: a config is data, and must not be able to run any code there is."""

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
        """By `package.module:name`. What is wrong is told in words that go on from "… cannot be used: "."""
        module, _, name = reference.partition(":")
        if module not in self._modules and not any(_offers(each, module, name) for each in self._offered):
            raise Forbidden("module_not_allowed", f"{module} is not among tool_modules in the settings.")
        found: Any = getattr(_import(module), name, None)
        if not _may_be_called(found, module, name):
            raise NotFound(
                "unknown_function", f"{module} has no function {name} of its own, and no @tool of that name."
            )
        return Function(reference, found, read_signature(found))

    def listed(self) -> tuple[list[Function], list[str]]:
        """All that are marked with `@majlis.tool`, and what is wrong with the others."""
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
        """Whoever installs a package means it to be used."""
        return tuple(entry_points(group=GROUP))


def _offers(entry: EntryPoint, module: str, name: str) -> bool:
    return entry.module == module and entry.attr in ("", name)


def _may_be_called(found: Any, module: str, name: str) -> bool:
    """Marked as a tool; or a plain public function written in that very module, not one that it happens to import."""
    if hasattr(found, MARK):
        return callable(found)
    return inspect.isfunction(found) and found.__module__ == module and not name.startswith("_")


def _import(module: str) -> ModuleType:
    try:
        return import_alone(module)
    except (Exception, SystemExit) as error:
        _logger.warning("a module of tools cannot be imported", module=module, exc_info=True)
        reason = f"{type(error).__name__}: {error}"[:300]
        raise Invalid("module_broken", f"{module} cannot be imported ({reason}).") from error
