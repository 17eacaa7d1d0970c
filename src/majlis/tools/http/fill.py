"""Fills in templates: `{{input.name}}` with the model's input, `${env.NAME}` with a secret, encoded for their place.

In a single pass: input of the model is never read as a template.
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
"""From the name and text of a placeholder to its encoded text."""


class Filler:
    def __init__(self, input: Any, secrets: Secrets) -> None:
        self._input = input
        self._secrets = secrets

    def text(self, template: str, encode: Encode) -> str:
        def written(found: re.Match[str]) -> str:
            name, value = self._look_up(found[0])
            return encode(name, "" if value is MISSING or value is None else as_text(value))

        return _TEMPLATE.sub(written, template)

    def value(self, template: Any) -> Any:
        """JSON with its templates filled in. A text that is exactly one template becomes the value with its type, or
        MISSING. Missing values are omitted from objects and lists."""
        match template:
            case str() if _TEMPLATE.fullmatch(template):
                return self._look_up(template)[1]
            case str():
                return self.text(template, unencoded)
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


def unencoded(_name: str, text: str) -> str:
    return text


def in_path(name: str, text: str) -> str:
    """A path segment or a part of one."""
    if not text:
        raise Invalid("invalid_input", f"{name} is empty, but the URL path needs it.")
    return quote(text, safe="")


def in_query(_name: str, text: str) -> str:
    return quote(text, safe="")


def in_markup(_name: str, text: str) -> str:
    """Text or an attribute value, never a tag. Characters that XML forbids are replaced."""
    return escape(_NOT_IN_MARKUP.sub("\ufffd", text))


def in_header(name: str, text: str) -> str:
    if not _HEADER_VALUE.fullmatch(text):
        raise Invalid("invalid_input", f"{name} is sent as a header and must be printable ASCII on one line.")
    return text
