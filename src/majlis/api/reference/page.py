"""The reference as one HTML page. It needs only its stylesheet and the script of its filter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

_METHODS = ("get", "post", "put", "patch", "delete")
_BACKTICKS = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_REF = "#/components/schemas/"


class Reference(NamedTuple):
    """The parts of the page, as HTML."""

    links: str
    operations: str


def render_reference(document: dict[str, Any]) -> Reference:
    operations: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                operation = methods[method]
                operations[operation["tags"][0]].append(_operation(path, method, operation, document))
    tags = [tag for tag in document["tags"] if operations[tag["name"]]]
    links = "".join(f'<li><a href="#{tag["name"]}">{escape(_title(tag))}</a></li>' for tag in tags)
    sections = "".join(
        f'<section id="{tag["name"]}"><h2>{escape(_title(tag))}</h2>{_text(tag["description"])}'
        f"{''.join(operations[tag['name']])}</section>"
        for tag in tags
    )
    schemas = document["components"]["schemas"]
    types = "".join(_type(name, schemas[name]) for name in sorted(schemas))
    info = document["info"]
    return Reference(
        f'<nav><label for="filter">Filter</label><input id="filter" type="search" autocomplete="off">'
        f'<ul>{links}<li><a href="#types">Types</a></li></ul>'
        f'<p><a href="/api/openapi.json">OpenAPI document</a></p></nav>',
        f"<p>Version {escape(info['version'])}</p>"
        f"{_text(info['description'])}{sections}"
        f'<section id="types"><h2>Types</h2>{types}</section>',
    )


def _title(tag: dict[str, Any]) -> str:
    return str(tag["x-displayName"])


def _operation(path: str, method: str, operation: dict[str, Any], document: dict[str, Any]) -> str:
    security = operation.get("security", document["security"])
    access = "" if security else "<p>No token is needed.</p>"
    inner = "".join(
        (
            _text(operation["description"]),
            access,
            _parameters(operation.get("parameters", ())),
            _body(path, method, operation, bool(security)),
            _answers(operation["responses"]),
        )
    )
    return (
        f'<details class="operation"><summary><span class="method {method}">{method.upper()}</span> '
        f"<code>{escape(path)}</code> <span>{escape(operation['summary'])}</span></summary>"
        f'<div id="{operation["operationId"]}">{inner}</div></details>'
    )


def _parameters(parameters: Iterable[dict[str, Any]]) -> str:
    rows = [
        (
            each["name"],
            f"{_kind(each['schema'])}, in the {each['in']}",
            each.get("required", False),
            each["description"],
        )
        for each in parameters
    ]
    return _table("Parameters", rows)


def _body(path: str, method: str, operation: dict[str, Any], needs_token: bool) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    shown = "".join(f"<p>{_kind(each['schema'])}, as {escape(kind)}</p>" for kind, each in content.items())
    example = next((each["example"] for each in content.values() if "example" in each), None)
    token = ' \\\n  -H "Authorization: Bearer $MAJLIS_TOKEN"' if needs_token else ""
    request = f'curl -X {method.upper()} "$MAJLIS_URL{path}"{token}'
    if example is not None:
        text = json.dumps(example, ensure_ascii=False, indent=2).replace("'", "'\\''")
        request += f" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{text}'"
    return (f"<h3>Body</h3>{shown}" if shown else "") + f"<h3>Example</h3><pre>{escape(request)}</pre>"


def _answers(responses: dict[str, Any]) -> str:
    rows = [_answer(status, response) for status, response in responses.items() if status < "4"]
    refused = " ".join(f"<code>{status}</code>" for status in responses if status >= "4")
    rows.append(f"<tr><td>{refused}</td><td>{_kind({'$ref': f'{_REF}ErrorBody'})}</td><td></td></tr>")
    return f"<h3>Answers</h3><table>{''.join(rows)}</table>"


def _answer(status: str, response: dict[str, Any]) -> str:
    kinds = [_kind(each["schema"]) for each in response.get("content", {}).values() if each.get("schema")]
    kind = ", ".join(dict.fromkeys(kinds)) or "no content"
    return f"<tr><td><code>{status}</code></td><td>{kind}</td><td>{_inline(response['description'])}</td></tr>"


def _type(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (field, _kind(each), field in required, each.get("description", ""))
        for field, each in schema.get("properties", {}).items()
    ]
    shown = _table("", rows) or f"<p>{_kind(schema)}</p>"
    about = _text(schema.get("description", ""))
    return f'<div class="type" id="type-{escape(name)}"><h3>{escape(name)}</h3>{about}{shown}</div>'


def _table(title: str, rows: list[tuple[str, str, bool, str]]) -> str:
    """A table of name, kind (as HTML), whether it is required, and description."""
    if not rows:
        return ""
    shown = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{kind}{'' if required else ' <i>(optional)</i>'}</td>"
        f"<td>{_inline(text)}</td></tr>"
        for name, kind, required, text in rows
    )
    return (f"<h3>{title}</h3>" if title else "") + f"<table>{shown}</table>"


def _kind(schema: dict[str, Any]) -> str:
    """The kind of a value, as HTML with links to types."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_REF))
        return f'<a href="#type-{name}">{name}</a>'
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(_kind(each) for each in schema[choice]))
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return _kind(schema["allOf"][0])
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"<code>{escape(json.dumps(each))}</code>" for each in values)
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    extra = schema.get("additionalProperties")
    if schema.get("type") == "object" and isinstance(extra, dict) and extra:
        return f"object of {_kind(extra)}"
    return escape(str(schema.get("type", "any value")))


def _text(text: str) -> str:
    return "".join(f"<p>{_inline(each)}</p>" for each in text.split("\n\n") if each.strip())


def _inline(text: str) -> str:
    return _BOLD.sub(r"<b>\1</b>", _BACKTICKS.sub(r"<code>\1</code>", escape(text)))
