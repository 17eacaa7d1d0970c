"""Builds the request from the `execution` of a config and the input of the model.

Templates are filled in a single pass, encoded for their place: input of the model is never read as a template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from pydantic import JsonValue

from majlis.agents.config.http import FORM, HEADER_VALUE, MARKUP, HttpExecution
from majlis.agents.config.templates import ENV_TEMPLATE, INPUT_TEMPLATE, SECRET_REFERENCE
from majlis.errors import Invalid
from majlis.hosts import Target, parse_target
from majlis.tools.reach.exchange import OWN_HEADERS, Outgoing
from majlis.tools.reach.secrets import Secrets

MISSING: Any = object()
_TEMPLATE = re.compile(f"{INPUT_TEMPLATE.pattern}|{ENV_TEMPLATE.pattern}")
_WITH_SECRETS = re.compile(f"{_TEMPLATE.pattern}|{SECRET_REFERENCE.pattern}")
_NOT_IN_MARKUP = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

Encode = Callable[[str, str], str]
"""From the name and text of a placeholder to its encoded text."""


def compose(execution: HttpExecution, filler: Filler, idempotency_key: str) -> Outgoing:
    headers = {name.lower(): filler.text(value, in_header, secrets=True) for name, value in execution.headers.items()}
    content, kind = _body(execution, filler)
    if kind is not None:
        headers.setdefault("content-type", kind)
    # Compressed content could expand far beyond the size limit.
    headers = OWN_HEADERS | {"idempotency-key": idempotency_key} | headers | {"accept-encoding": "identity"}
    return Outgoing(execution.method, parse_target(_url(execution, filler)), headers, content)


def target_of(execution: HttpExecution) -> Target:
    """The host and port, which no template can change."""
    return parse_target("/".join(execution.url.partition("#")[0].partition("?")[0].split("/", 3)[:3]))


def _url(execution: HttpExecution, filler: Filler) -> str:
    address, _, query = execution.url.partition("#")[0].partition("?")
    # `https:`, an empty part, host and port; then the path.
    *place, path = address.split("/", 3) if address.count("/") > 2 else [address, ""]
    segments = [filler.text(segment, in_path) for segment in path.split("/")]
    if not {".", ".."}.isdisjoint(segments):
        raise Invalid("invalid_input", "a segment of the URL path would be . or .., which would change the path.")
    query = "&".join(filter(None, [filler.text(query, in_query), _pairs(execution.query, filler)]))
    return f"{'/'.join(place)}/{'/'.join(segments)}{f'?{query}' if query else ''}"


def _pairs(template: Mapping[str, JsonValue], filler: Filler) -> str:
    values = {name: filler.value(value) for name, value in template.items()}
    given = {name: as_text(value) for name, value in values.items() if value is not MISSING and value is not None}
    return urlencode(given, quote_via=quote)


def _body(execution: HttpExecution, filler: Filler) -> tuple[bytes | None, str | None]:
    if execution.body is None:
        return None, None
    if execution.content_type.startswith(FORM) and isinstance(execution.body, str | dict):
        fields = execution.body
        text = filler.text(fields, in_query) if isinstance(fields, str) else _pairs(fields, filler)
        return text.encode(), None
    if isinstance(execution.body, str) and any(kind in execution.content_type for kind in MARKUP):
        return filler.text(execution.body, in_markup).encode(errors="replace"), None
    body = filler.value(execution.body)
    if body is MISSING:
        return None, None
    if isinstance(body, str):
        return body.encode(errors="replace"), "text/plain; charset=utf-8"
    return orjson.dumps(body), "application/json"


class Filler:
    """`stored` are the values of stored secrets, by name."""

    def __init__(self, input: Any, secrets: Secrets, stored: Mapping[str, str] | None = None) -> None:
        self._input = input
        self._secrets = secrets
        self._stored = stored or {}

    def text(self, template: str, encode: Encode, secrets: bool = False) -> str:
        """With `secrets`, `secret:NAME` is a template too."""

        def written(found: re.Match[str]) -> str:
            name, value = self._look_up(found[0])
            return encode(name, "" if value is MISSING or value is None else as_text(value))

        return (_WITH_SECRETS if secrets else _TEMPLATE).sub(written, template)

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
        if placeholder.startswith("secret:"):
            return placeholder, self._stored[placeholder.removeprefix("secret:")]
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
    if not HEADER_VALUE.fullmatch(text):
        raise Invalid("invalid_input", f"{name} is sent as a header and must be printable ASCII on one line.")
    return text
