"""Builds the request from the `execution` of a config and the input of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import orjson
from pydantic import JsonValue

from majlis import __version__
from majlis.agents.config.http import FORM, MARKUP, HttpExecution
from majlis.errors import Invalid
from majlis.tools.http.fill import MISSING, Filler, as_text, in_header, in_markup, in_path, in_query
from majlis.tools.reach.target import Target, parse_target

OWN_HEADERS = {"user-agent": f"majlis/{__version__}", "accept": "application/json, text/*;q=0.9, */*;q=0.1"}


@dataclass(frozen=True, slots=True)
class Outgoing:
    method: str
    target: Target
    headers: dict[str, str]
    """Names in lower case."""
    content: bytes | None


def compose(execution: HttpExecution, filler: Filler, idempotency_key: str) -> Outgoing:
    headers = {name.lower(): filler.text(value, in_header) for name, value in execution.headers.items()}
    content, kind = _body(execution, filler)
    if kind is not None:
        headers.setdefault("content-type", kind)
    # Compressed content could expand far beyond the size limit.
    headers = OWN_HEADERS | {"idempotency-key": idempotency_key} | headers | {"accept-encoding": "identity"}
    return Outgoing(execution.method, parse_target(_url(execution, filler)), headers, content)


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
