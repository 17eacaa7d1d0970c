"""Makes the text of a message from a webhook's payload and headers: `{{payload.issue.title}}`.

Placeholders are filled in a single pass, so a payload is never read as a template.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from majlis.errors import Invalid

MAX_TEMPLATE = 4000
_MAX_BYTES = 60_000
_MAX_SHOWN = 4000
_PLACEHOLDER = re.compile(r"\{\{\s*(payload|headers)((?:\.[^\s{}.]+)*)\s*\}\}")
# Parts of the names of headers that may hold secrets.
_HIDDEN = re.compile("authorization|cookie|secret|signature|token|key")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_template(template: str) -> None:
    rest = _PLACEHOLDER.sub("", template)
    if "{{" in rest or "}}" in rest:
        problem = "Use {{payload}}, {{payload.field.field}} and {{headers.name}} in template; nothing else in {{ }}."
        raise Invalid("invalid_template", problem, {"path": "template"})


def parse_payload(kind: str, body: bytes) -> Any:
    """JSON, a form (with JSON in its field `payload`, as GitHub can send it), or text."""
    text = body.decode(errors="replace")
    if kind.startswith("application/x-www-form-urlencoded"):
        fields = dict(parse_qsl(text, keep_blank_values=True))
        return _json(fields["payload"]) if "payload" in fields else fields
    return _json(text)


def shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if not _HIDDEN.search(name)}


def render(template: str | None, payload: Any, headers: Mapping[str, str]) -> str:
    if template is None:
        return _cut(_plain(payload))
    values = {"payload": payload, "headers": shown_headers(headers)}
    return _cut(_PLACEHOLDER.sub(lambda found: _text(_look_up(values[found[1]], found[2])), template))


def _plain(payload: Any) -> str:
    """Without a template: the payload's text, or all of it."""
    text = payload.get("text") if isinstance(payload, dict) else payload
    if isinstance(text, str):
        return text
    shown = orjson.dumps(payload, option=orjson.OPT_INDENT_2).decode()
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}\n…"
    return f"```json\n{shown}\n```"


def _look_up(value: Any, path: str) -> Any:
    for name in path.split(".")[1:]:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and len(name) < 7:
            value = value[int(name)] if int(name) < len(value) else None
        else:
            return None
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _cut(text: str) -> str:
    text = _CONTROLS.sub("", text).strip()
    content = text.encode(errors="replace")
    return text if len(content) <= _MAX_BYTES else f"{content[:_MAX_BYTES].decode(errors='ignore')}…"
