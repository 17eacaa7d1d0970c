"""The Arabic of the web app has the title and the sentence of each agent setting that its forms show, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from majlis.agents.config.config import AgentConfig

CATALOGUE = Path(__file__).parents[2] / "web/app/src/language/ar/settings.ts"
# These have forms of their own.
OWN_FORMS = {"instructions", "model", "tools", "mcp", "policy"}
TOOLS = ("HttpTool", "PythonTool", "SpaceTool", "StaticTool", "McpServer")


def test_the_catalogue_has_the_texts_of_the_forms() -> None:
    schema = AgentConfig.model_json_schema(by_alias=True)
    shown: set[str] = set()
    for name, field in schema["properties"].items():
        if name not in OWN_FORMS:
            collect(field, schema, shown)
    for tool in TOOLS:
        for name, field in schema["$defs"][tool]["properties"].items():
            if name != "type":
                collect(field, schema, shown)
    written = re.findall(r"^  '((?:[^'\\]|\\.)*)': '", CATALOGUE.read_text("utf-8"), re.MULTILINE)
    assert {text.replace("\\'", "'") for text in written} == shown


def collect(field: dict[str, Any], root: dict[str, Any], shown: set[str]) -> None:
    """The texts that `SchemaField` shows of a setting, as `settingText` looks them up."""
    form = resolve(field, root)
    texts = [form.get("title"), form.get("description")]
    shown.update(" ".join(text.replace("`", "").split()) for text in texts if text)
    for each in form.get("properties", {}).values():
        collect(each, root, shown)


def resolve(field: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follows a reference, and takes the one form of a setting that may also be null."""
    named = {**root["$defs"][field["$ref"].rpartition("/")[2]], **field} if "$ref" in field else field
    forms = [each for each in named.get("anyOf", []) if each.get("type") != "null"]
    if len(forms) != 1 or len(forms) == len(named["anyOf"]):
        return named
    return {**resolve(forms[0], root), **named}
