"""The reference pages that are generated: the command line and the HTTP API.

`python -m tests.docs.reference` writes them; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperGroup

from majlis.api.app import openapi_document
from majlis.cli.examples import EXAMPLES
from majlis.cli.main import COMMANDS, app, load_command
from tests.docs.codes import ROOT

# Options of nearly every command, which would hide the others.
_WHERE = ("url", "token_env", "data_dir", "database_url", "config", "as_json")
_TAGS = {"openai": "OpenAI's protocol", "oidc": "OpenID Connect"}


def pages() -> dict[str, str]:
    return {"reference-cli.md": cli_page(), "reference-api.md": api_page()}


def cli_page() -> str:
    lines = [
        "# Commands",
        "",
        "Use this page to look up a command, its arguments and its options. It is generated from the code.",
        "[The majlis command](cli.md) explains how to work with it.",
        "",
        "Commands with *server options* also take `--url`, `--token-env`, `--data-dir`, `--database-url` and",
        "`--config` ([which server, and as which user](cli.md#which-server-and-as-which-user)). `--json` prints",
        "JSON. All commands have `--help`.",
    ]
    root = typer.Context(typer.main.get_command(app), info_name="majlis")
    for name in COMMANDS:
        command = load_command(name)
        lines += ["", f"## majlis {name}", "", *_paragraphs(command.help or "")]
        if isinstance(command, TyperGroup):
            for verb, inner in command.commands.items():
                lines += [
                    "",
                    f"### {name} {verb}",
                    "",
                    *_paragraphs(inner.help or ""),
                    *_usage(root, name, verb, inner),
                ]
        else:
            lines += _usage(root, name, "", command)
    return "\n".join(lines) + "\n"


def _usage(root: typer.Context, name: str, verb: str, command: Any) -> Iterator[str]:
    path = f"{name} {verb}".strip()
    context = typer.Context(command, info_name=path, parent=root)
    pieces = [re.sub(r"^\{(.*)\}$", r"\1", each) for each in command.collect_usage_pieces(context)]
    yield from ("", "```text", " ".join(["majlis", path, *pieces]), "```")
    rows = [each.get_help_record(context) for each in command.params if each.name not in _WHERE]
    told = [(head, text) for head, text in filter(None, rows) if not head.startswith("--help")]
    if told:
        yield from ("", "| argument or option | |", "|---|---|")
        yield from (f"| `{_line(head)}` | {_cell(text)} |" for head, text in told)
    names = {each.name for each in command.params}
    also = (
        ["server options"] if "url" in names else ["`--data-dir`, `--database-url`, `--config`"] * ("config" in names)
    )
    also += ["`--json`"] * ("as_json" in names)
    if also:
        yield from ("", f"Also: {', '.join(also)}.")
    yield from ("", "```bash", *EXAMPLES[path], "```")


def api_page() -> str:
    document = openapi_document()
    lines = [
        "# Requests",
        "",
        "Use this page to look up a request of the HTTP API. It is generated from the code, like",
        "`/api/openapi.json` of a running server, which also has the types. [HTTP API](api.md) explains how to",
        "use it: authentication, errors, paging.",
        "",
        "Parameters in *italics* are part of the query; those in bold are required.",
    ]
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            [tag, *_] = operation.get("tags") or ["others"]
            by_tag.setdefault(tag, []).append(_request(document, path, method, operation))
    for tag in sorted(by_tag):
        title = _TAGS.get(tag, tag.replace("_", " ").capitalize())
        lines += ["", f"## {title}", "", "| request | input | |", "|---|---|---|", *by_tag[tag]]
    return "\n".join(lines) + "\n"


def _request(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    query = [
        f"*{each['name']}*" if not each.get("required") else f"***{each['name']}***"
        for each in operation.get("parameters", ())
        if each["in"] == "query"
    ]
    body = [f"**{name}**" if required else name for name, required in _fields(document, operation)]
    # The summary is made from the function's name, and says less than the path.
    told = operation.get("description", "")
    return f"| `{method.upper()} {path}` | {', '.join([*body, *query])} | {_cell(told)} |"


def _fields(document: dict[str, Any], operation: dict[str, Any]) -> list[tuple[str, bool]]:
    contents = operation.get("requestBody", {}).get("content", {}).values()
    schema: dict[str, Any] = next((each.get("schema", {}) for each in contents), {})
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return [(name, name in schema.get("required", ())) for name in schema.get("properties", {})]


def _paragraphs(text: str) -> list[str]:
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
    return "\n\n".join("\n".join(wrap(each, 100)) for each in paragraphs).split("\n")


def _cell(text: str) -> str:
    return re.sub(r"<(\w+)>", r"`<\1>`", _line(text))


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    for name, text in pages().items():
        (ROOT / "docs" / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
