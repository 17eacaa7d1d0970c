"""Templates filled in: `{{input.name}}` by what the model gave, `${env.NAME}` by a secret, each encoded for its place.

All in one pass: what a model writes is never read as a template itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any
from urllib.parse import quote

import orjson

from majlis.agents.config.templates import ENV_TEMPLATE, INPUT_TEMPLATE
from majlis.errors import Invalid
from majlis.tools.reach.secrets import Secrets

MISSING: Any = object()
_TEMPLATE = re.compile(f"{INPUT_TEMPLATE.pattern}|{ENV_TEMPLATE.pattern}")
_NOT_IN_MARKUP = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")

Encode = Callable[[str, str], str]
"""From a placeholder's name and its text to what is written in its place."""


class Filling:
    def __init__(self, input: Any, secrets: Secrets) -> None:
        self._input = input
        self._secrets = secrets

    def text(self, template: str, encode: Encode) -> str:
        def written(found: re.Match[str]) -> str:
            name, value = self._look_up(found[0])
            return encode(name, "" if value is MISSING or value is None else as_text(value))

        return _TEMPLATE.sub(written, template)

    def value(self, template: Any) -> Any:
        """JSON with its templates filled in. One that is a whole text becomes what the model gave, with its type; if
        the model gave nothing there, MISSING. What is missing in an object or a list is left out of it."""
        match template:
            case str() if _TEMPLATE.fullmatch(template):
                return self._look_up(template)[1]
            case str():
                return self.text(template, as_it_is)
            case dict():
                filled = {key: self.value(child) for key, child in template.items()}
                return {key: child for key, child in filled.items() if child is not MISSING}
            case list():
                return [child for child in map(self.value, template) if child is not MISSING]
        return template

    def _look_up(self, placeholder: str) -> tuple[str, Any]:
        inner = placeholder.strip("${} \t\n")
        if inner.startswith("env."):
            return inner, self._secrets.get(inner.removeprefix("env."))
        value = self._input
        for step in inner.split(".")[1:]:
            value = _step_into(value, step)
        return inner, value


def _step_into(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step, MISSING)
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return MISSING


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def as_it_is(_name: str, text: str) -> str:
    return text


def in_path(name: str, text: str) -> str:
    """One segment, or a part of one: nothing in it leads to another place."""
    if not text:
        raise Invalid("invalid_input", f"{name} is empty, and the address needs it.")
    return quote(text, safe="")


def in_query(_name: str, text: str) -> str:
    return quote(text, safe="")


def in_markup(_name: str, text: str) -> str:
    """Text or the value of an attribute, never a tag. What no XML may hold is replaced."""
    return escape(_NOT_IN_MARKUP.sub("\ufffd", text))


def in_header(name: str, text: str) -> str:
    if not _HEADER_VALUE.fullmatch(text):
        raise Invalid("invalid_input", f"{name} may hold only printable ASCII on one line: it is sent as a header.")
    return text
